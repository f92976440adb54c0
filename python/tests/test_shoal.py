# SPDX-License-Identifier: Apache-2.0
"""The package as its users see it, over an installed wheel. It needs no other package.

SHOAL is the command `shoal` of the same build, whose answers must be the same.
"""

import csv
import ctypes
import doctest
import io
import json
import os
import subprocess
import tempfile
import threading
import time
import unittest
from array import array
from pathlib import Path

import shoal
from shoal import _library

PETS = ["ant", "bee", "cat", "dog"]
TEXT = json.dumps(
    {
        "recipe": "pets",
        "analysis": "a",
        "stream": "s",
        "value": "item",
        "mechanism": "onehot-asymmetric",
        "parameters": {"epsilon": 2, "values": PETS},
        "cohort": {"minimum": 100},
        "limit": {"per_day": 1},
        "expires": "2030-01-01",
    }
)
COMMAND = os.environ["SHOAL"]


def command(*words: str) -> bytes:
    return subprocess.run([COMMAND, *words], check=True, stdout=subprocess.PIPE).stdout


def as_printed(number: float, like: str) -> str:
    """The number with as many decimals as the command printed."""
    return f"{number:.{len(like.partition('.')[2])}f}"


class WithFolder(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        (self.path / "r.json").write_text(TEXT)
        self.recipe = shoal.Recipe(self.path / "r.json")
        counts = {pet: 400 - 90 * i for i, pet in enumerate(PETS)}
        self.batches = shoal.simulate(self.recipe, counts, devices=20_000, seed=7)
        (self.path / "in.batch").write_bytes(self.batches)

    def tearDown(self) -> None:
        self.folder.cleanup()

    def at(self, name: str) -> str:
        return str(self.path / name)

    def folded(self) -> shoal.Accumulator:
        accumulator = shoal.Accumulator(self.recipe)
        accumulator.add_batches(self.batches)
        return accumulator


class Recipes(WithFolder):
    def test_facts(self) -> None:
        self.assertEqual(self.recipe.id, "pets")
        self.assertEqual(self.recipe.values, PETS)
        self.assertEqual(self.recipe.epsilon, 2)
        self.assertEqual(self.recipe.n_values, 4)
        self.assertEqual(self.recipe.cohort_minimum, 100)
        self.assertEqual(command("recipe", "hash", self.at("r.json")).decode().strip(), self.recipe.hash)

    def test_refusals(self) -> None:
        for text, name in [("{", "json"), ("{}", "missing-field"), ('{"x":1}', "unknown-field")]:
            with self.assertRaises(shoal.ShoalError) as caught:
                shoal.Recipe.from_json(text)
            self.assertEqual(caught.exception.name, name)
        with self.assertRaises(shoal.ShoalError) as caught:
            shoal.Recipe("/nowhere/r.json")
        self.assertEqual((caught.exception.name, caught.exception.exit_code), ("io", 5))
        self.assertIn("/nowhere/r.json", str(caught.exception))


class Accumulators(WithFolder):
    def test_bytes_are_those_of_the_command(self) -> None:
        command("ingest", "--recipe", self.at("r.json"), "-o", self.at("c.acc"), self.at("in.batch"))
        accumulator = self.folded()
        self.assertEqual(accumulator.to_bytes(), (self.path / "c.acc").read_bytes())
        accumulator.save(self.path / "p.acc")
        self.assertEqual((self.path / "p.acc").read_bytes(), (self.path / "c.acc").read_bytes())
        loaded = shoal.Accumulator.load(self.recipe, self.path / "c.acc")
        self.assertEqual(loaded.to_bytes(), accumulator.to_bytes())
        again = shoal.Accumulator.from_bytes(self.recipe, memoryview(accumulator.to_bytes()))
        self.assertEqual((len(again), again.is_claimed), (20_000, True))
        self.assertEqual(len(again.claims[0]), 16)

    def test_nothing_counts_twice(self) -> None:
        accumulator = self.folded()
        with self.assertRaises(shoal.DuplicateError):
            accumulator.add_batches(self.batches)
        self.assertGreater(accumulator.add_batches(self.batches, skip_held=True).held, 0)
        with self.assertRaises(shoal.DuplicateError):
            accumulator.merge(self.folded())
        self.assertEqual(len(accumulator), 20_000)

    def test_hostile_bytes(self) -> None:
        data = bytearray(self.folded().to_bytes())
        for cut in (0, 1, 50, len(data) - 1):
            with self.assertRaises(shoal.ShoalError):
                shoal.Accumulator.from_bytes(self.recipe, data[:cut])
        data[60] ^= 1
        with self.assertRaises(shoal.ShoalError):
            shoal.Accumulator.from_bytes(self.recipe, data)
        accumulator = shoal.Accumulator(self.recipe)
        with self.assertRaises(shoal.ShoalError) as caught:
            accumulator.add_batches(b"no batch" * 20)
        self.assertEqual(caught.exception.name, "magic")
        with self.assertRaises(ValueError):
            accumulator.add_records(b"", claim=b"short")
        with self.assertRaises(TypeError):
            accumulator.add_batches(7)
        with self.assertRaises(BufferError):
            accumulator.add_records(memoryview(bytes(100))[::2])
        self.assertEqual(len(accumulator), 0)

    def test_reports(self) -> None:
        command("simulate", "--recipe", self.at("r.json"), "--counts", self.counts(), "--devices", "500",
                "--seed", "3", "--format", "ndjson", "-o", self.at("in.ndjson"))
        text = (self.path / "in.ndjson").read_text()
        accumulator = shoal.Accumulator(self.recipe)
        self.assertEqual(accumulator.add_reports(text).records, 500)
        other = shoal.Accumulator(self.recipe)
        with self.assertRaises(shoal.ShoalError) as caught:
            other.add_reports("{}\n" + text, max_rejected=0)
        self.assertEqual(caught.exception.name, "rejected")
        self.assertEqual(other.add_reports("{}\n" + text).rejected, 1)

    def counts(self) -> str:
        (self.path / "c.tsv").write_text("".join(f"{pet}\t10\n" for pet in PETS))
        return self.at("c.tsv")

    def test_threads_run_together(self) -> None:
        """The interpreter's lock is released: another thread runs while a call takes its time."""
        turns, is_over = [0], threading.Event()

        def turn() -> None:
            while not is_over.is_set():
                turns[0] += 1
                time.sleep(0)

        other = threading.Thread(target=turn)
        other.start()
        before = turns[0]
        library_call = shoal.plan(devices=1_000_000, open=True, epsilon=2)
        after = turns[0]
        is_over.set()
        other.join()
        self.assertIn("schema", library_call)
        self.assertGreater(after, before)


class Estimates(WithFolder):
    def test_figures_are_those_of_the_command(self) -> None:
        accumulator = self.folded()
        accumulator.save(self.path / "a.acc")
        words = ("--recipe", self.at("r.json"), "--format", "json", self.at("a.acc"))
        printed = json.loads(command("estimate", *words))
        self.assertEqual(json.loads(shoal.run("estimate", {"recipe": self.at("r.json")},
                                              [self.at("a.acc")], format="json")), printed)
        estimate = accumulator.estimate()
        self.assertEqual(estimate.value, PETS)
        table = csv.DictReader(io.StringIO(command("estimate", "--recipe", self.at("r.json"),
                                                   "--format", "csv", self.at("a.acc")).decode()))
        rows = {row["value"]: row for row in table}
        for i, pet in enumerate(estimate.value):
            self.assertEqual(as_printed(estimate.count[i], rows[pet]["count"]), rows[pet]["count"])
            self.assertEqual(as_printed(estimate.low[i], rows[pet]["low"]), rows[pet]["low"])
            self.assertEqual(as_printed(estimate.high[i], rows[pet]["high"]), rows[pet]["high"])
            self.assertEqual(str(estimate.detected[i]).lower(), rows[pet]["detected"])
        some = accumulator.estimate(["dog", "ant"])
        self.assertEqual(some.value, ["dog", "ant"])
        self.assertEqual(list(some.count), [estimate.count[3], estimate.count[0]])

    def test_refusals(self) -> None:
        few = shoal.Accumulator(self.recipe)
        with self.assertRaises(shoal.CohortError) as caught:
            few.estimate()
        self.assertEqual(caught.exception.exit_code, 3)
        with self.assertRaises(shoal.ShoalError) as refused:
            self.folded().estimate(["fox"])
        self.assertNotIn("fox", str(refused.exception))
        with self.assertRaises(ValueError):
            self.folded().estimate(multiple="often")


    def test_incomplete(self) -> None:
        command("manifest", "make", "--recipe", self.at("r.json"), "-o", self.at("m"), self.at("in.batch"))
        first = memoryview(self.batches)
        for shard in ("1/2", "2/2"):
            done = subprocess.run([COMMAND, "ingest", "--recipe", self.at("r.json"), "--manifest",
                                   self.at("m"), "--shard", shard, "-o", self.at("half.acc"),
                                   self.at("in.batch")], stderr=subprocess.PIPE)
            if done.returncode == 0:
                break
        self.assertEqual(done.returncode, 0, (done.stderr, len(first)))
        half = shoal.Accumulator.load(self.recipe, self.path / "half.acc")
        with self.assertRaises(shoal.ShoalError) as caught:
            half.estimate()
        self.assertEqual(caught.exception.name, "incomplete")
        estimate = half.estimate(incomplete=True)
        self.assertEqual((estimate.n_shards, estimate.n_missing_shards), (2, 1))
        other = shoal.Accumulator(self.recipe)
        other.add_batches(shoal.simulate(self.recipe, {"dog": 1}, devices=20_000, seed=8))
        with self.assertRaises(shoal.ShoalError) as caught:
            shoal.compare(half, other)
        self.assertEqual(caught.exception.name, "incomplete")
        result = shoal.compare(half, other, incomplete=True)
        self.assertEqual(result["a"]["incomplete"], {"shards": 2, "missing": 1})


class Commands(WithFolder):
    def test_plan_account_compare(self) -> None:
        printed = command("plan", "--devices", "100000", "--size", "50", "--epsilon", "1", "--format", "json")
        self.assertEqual(shoal.plan(devices=100_000, size=50, epsilon=1), json.loads(printed))
        printed = command("account", "--local-epsilon", "1", "--reports", "10000", "--delta", "1e-6",
                          "--format", "json")
        self.assertEqual(shoal.account(local_epsilon=1, reports=10_000, delta=1e-6), json.loads(printed))
        other = shoal.Accumulator(self.recipe)
        other.add_batches(shoal.simulate(self.recipe, {"dog": 1}, devices=20_000, seed=8))
        self.assertIn("schema", shoal.compare(self.folded(), other))

    def test_refusals_and_log(self) -> None:
        lines: list = []
        with self.assertRaises(shoal.ShoalError) as caught:
            shoal.run("estimate", {"colour": 1}, ["x"], log=lines.append)
        self.assertEqual(caught.exception.name, "usage")
        self.assertTrue(lines[0].startswith("estimate: "))
        with self.assertRaises(shoal.ShoalError):
            shoal.run("serve")


class Memory(WithFolder):
    def test_structs_are_those_of_the_header(self) -> None:
        sizes = {"Error": 520, "Bytes": 16, "Facts": 56, "Added": 40, "Options": 32, "Text": 16, "Columns": 120}
        for name, size in sizes.items():
            self.assertEqual(ctypes.sizeof(getattr(_library, f"{name}Struct")), size, name)

    def test_bytes_are_read_where_they_lie(self) -> None:
        data = array("B", bytes(64))
        with _library.Buffer(data) as buffer:
            self.assertEqual(buffer.address, data.buffer_info()[0])
        with _library.Buffer(memoryview(data).toreadonly()) as buffer:
            self.assertEqual(buffer.address, data.buffer_info()[0])
        data.append(1)  # an array that is still held cannot grow

    def test_arrays(self) -> None:
        size = self.recipe.record_size
        zeros = array("B", bytes(100 * size))
        accumulator = shoal.Accumulator(self.recipe)
        self.assertEqual(accumulator.add_records(zeros), 100)
        self.assertFalse(accumulator.is_claimed)


def load_tests(loader: unittest.TestLoader, tests: unittest.TestSuite, _: object) -> unittest.TestSuite:
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    tests.addTests(doctest.DocTestSuite(shoal, optionflags=flags))
    return tests


if __name__ == "__main__":
    unittest.main()
