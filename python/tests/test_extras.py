# SPDX-License-Identifier: Apache-2.0
"""The package with numpy, pandas and matplotlib."""

import unittest

import numpy
import shoal

TEXT = """{"recipe": "words", "analysis": "a", "stream": "s", "value": "item", "mechanism": "hcms",
"parameters": {"epsilon": 4, "k": 256, "m": 1024}, "hash": "poly1", "limit": {"per_day": 1},
"seed": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", "expires": "2030-01-01"}"""
DEVICES = 100_000


def records_of(batches: bytes) -> numpy.ndarray:
    """The records of batches, as rows of bytes (docs/formats.md)."""
    rows, at = [], 0
    while at < len(batches):
        version, size, count = numpy.frombuffer(batches, "<u4", 3, at + 8)
        head = 72 if version == 1 else 88
        rows.append(numpy.frombuffer(batches, numpy.uint8, size * count, at + head).reshape(count, size))
        at += head + int(size) * int(count) + 8
    return numpy.concatenate(rows)


class Extras(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.recipe = shoal.Recipe.from_json(TEXT)
        cls.batches = shoal.simulate(cls.recipe, {"ant": 60, "bee": 30, "cat": 10}, devices=DEVICES, seed=5)
        cls.records = records_of(cls.batches)
        cls.sum = shoal.Accumulator(cls.recipe)
        cls.sum.add_records(cls.records)

    def test_records_of_an_array(self) -> None:
        self.assertEqual(self.records.shape, (DEVICES, self.recipe.record_size))
        batched = shoal.Accumulator(self.recipe)
        batched.add_batches(self.batches)
        question = ["ant", "bee", "cat", "dog"]
        self.assertEqual(list(batched.estimate(question).count), list(self.sum.estimate(question).count))
        frozen = self.records.copy()
        frozen.flags.writeable = False
        again = shoal.Accumulator(self.recipe, threads=2)
        again.add_records(frozen)
        self.assertEqual(again.to_bytes(), self.sum.to_bytes())
        with self.assertRaises((BufferError, ValueError)):
            again.add_records(self.records[::2])
        self.assertEqual(len(again), DEVICES)

    def test_columns_are_arrays(self) -> None:
        estimate = self.sum.estimate(["ant", "bee"])
        count = numpy.asarray(estimate.count)
        self.assertEqual(count.dtype, numpy.float64)
        self.assertEqual(count.tolist(), estimate.count.tolist())
        self.assertTrue(numpy.shares_memory(count, numpy.asarray(estimate.count)))

    def test_frame(self) -> None:
        frame = self.sum.estimate(["cat", "ant", "bee"]).to_pandas()
        self.assertEqual(frame["value"].tolist(), ["ant", "bee", "cat"])
        self.assertTrue((frame["low"] <= [60_000, 30_000, 10_000]).all())
        self.assertTrue((frame["high"] >= [60_000, 30_000, 10_000]).all())

    def test_plot(self) -> None:
        ax = self.sum.estimate(["cat", "ant", "bee"]).plot(top=2)
        self.assertEqual([label.get_text() for label in ax.get_yticklabels()], ["bee", "ant"])


if __name__ == "__main__":
    unittest.main()
