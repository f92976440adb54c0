# SPDX-License-Identifier: Apache-2.0
"""The drivers of scale/: whatever is lost, repeated, damaged or killed, the bytes are one process's."""

from __future__ import annotations

import gzip
import io
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable, Sequence
from unittest.mock import patch

import crowd
import lake
import put
from crowd import (
    FakeBucket,
    deadly,
    id_of,
    key_of,
    one_process,
    shoal,
    simulate,
    store,
    write_recipe,
)
from dask_fold import Dask, connect
from drive import Driver, OneProcess, Result, arguments, drive, hash_of
from fold import Job, Outcome, Refused

SCALE = Path(sys.modules["drive"].__file__ or "").parent


class Twice:
    """An engine that runs every task twice at once, as speculation does."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def map(self, task: Callable[[Any], Outcome], items: Sequence[Any]) -> list[Outcome]:
        both = self.inner.map(task, [item for item in items for _ in range(2)])
        assert [one.output for one in both[::2]] == [one.output for one in both[1::2]]
        return list(both[::2])


class Case(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="shoal-scale-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        write_recipe(self.folder / "recipe.json")
        self.recipe = (self.folder / "recipe.json").read_bytes()
        self.hash = hash_of(self.recipe, crowd.SHOAL)
        self.lake = self.folder / "lake"

    def job(
        self, work: str, shards: int, where: str | None = None, shoal: str = crowd.SHOAL
    ) -> Job:
        at = where or str(self.lake)
        to = work if work.startswith("s3://") else str(self.folder / work)
        return Job(self.recipe, self.hash, at, to, shards, shoal)

    def fold(self, job: Job, engine: Any = None) -> Result:
        with redirect_stderr(io.StringIO()) as said:
            result = Driver(job, engine or OneProcess()).run()
        for one in result.quarantined:  # what does not count is named to people too
            self.assertIn(one["key"], said.getvalue())
        return result

    def whole(self, job: Job, result: Result) -> bytes:
        with tempfile.TemporaryDirectory() as name:
            return lake.open_store(job.work).local(result.accumulator, Path(name)).read_bytes()


class Names(Case):
    def test_only_safe_keys_become_paths(self) -> None:
        good = f"{'ab' * 32}/2026-11-22/01/01{'cd' * 15}.batch"
        self.assertEqual(getattr(lake.parse_key(good), "key", None), good)
        for bad in (
            good.replace("/01/", "/02/"),
            good.replace("11-22", "13-22"),
            good.replace("2026", "２０２６"),
            f"../{good}",
            f"{good}\n",
            f"{good}.tmp",
            good.upper(),
            good.replace("/", "//"),
        ):
            self.assertIsNone(lake.parse_key(bad), bad)
        for bad in (
            "",
            "/etc/passwd",
            "a/../b",
            "a/./b",
            "a//b",
            ".a",
            "a\0b",
            "a/",
            "a\nb",
            "é",
            "a" * 2000,
        ):
            self.assertFalse(lake.is_key(bad), bad)
            for call in ("has", "delete"):
                with self.assertRaises(ValueError):
                    getattr(lake.Folder(str(self.folder)), call)(bad)
        with self.assertRaises(ValueError):
            lake.open_store("s3://bucket/a/../b")
        with self.assertRaises(ValueError):
            lake.open_store("ftp://somewhere")

    def test_garbage_of_names_stays_below_the_folder(self) -> None:
        draw = random.Random(7)
        good = f"{'ab' * 32}/2026-11-22/01/01{'cd' * 15}.batch"
        root, parsed, kept = lake.Folder(str(self.folder)), 0, 0
        for _ in range(20_000):
            key = list(good)
            for _ in range(draw.randrange(3)):
                at = draw.randrange(len(key))
                key[at : at + draw.randrange(3)] = draw.choice(
                    ["..", "/", "a", "0", ".", "\0", "\\", "é", "9"]
                )
            text = "".join(key)
            if (found := lake.parse_key(text)) is not None:
                parsed += 1
                self.assertEqual(found.key, text)
                self.assertTrue(lake.is_key(text))
                self.assertTrue(lake.is_key(found.aside("0" * 64)))
            if lake.is_key(text):
                kept += 1
                path = os.path.normpath(root._path(text))
                self.assertTrue(path.startswith(f"{self.folder}/"), text)
        self.assertGreater(parsed, 5_000)
        self.assertGreater(20_000, kept)

    def test_a_name_is_written_once(self) -> None:
        self.addCleanup(FakeBucket().close)
        bucket = lake.Bucket("once")
        bucket.client.create_bucket(Bucket="once")
        for kept in (lake.Folder(str(self.folder / "once")), bucket):
            files = []
            for i in range(8):
                files.append(self.folder / f"file{i}")
                files[-1].write_text(f"{i}" * 100_000)
            won: list[int] = []
            threads = [
                threading.Thread(
                    target=lambda i=i: won.append(i) if kept.put_new("a/b", files[i]) else None
                )
                for i in range(8)
            ]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            self.assertEqual(len(won), 1)
            self.assertEqual(
                lake.checksum_of(kept.local("a/b", self.folder)), lake.checksum_of(files[won[0]])
            )
            self.assertFalse(lake.put_same(kept, "a/b", files[won[0]], self.folder))
            with self.assertRaises(lake.Differs):
                lake.put_same(kept, "a/b", files[(won[0] + 1) % 8], self.folder)
            with patch("lake.OBJECT_MAX", 1000), self.assertRaises(lake.TooLarge):
                kept.local("a/b", self.folder)
            self.assertEqual([item.key for item in kept.list("a/")], ["a/b"])
            kept.move("a/b", "c/d")
            kept.move("a/b", "c/d")
            self.assertEqual((kept.has("a/b"), kept.has("c/d")), (False, True))
            with self.assertRaises(lake.Missing):
                kept.local("a/b", self.folder)
            kept.delete("c/d")
            kept.delete("c/d")


class Folds(Case):
    def test_dask_gives_the_bytes_of_one_process(self) -> None:
        batches = simulate(self.folder, 60, 5_000, "dask")
        for i, batch in enumerate(batches):
            store(self.lake, key_of(batch), batch)
            if i % 3 == 0:  # came twice, compressed
                store(self.lake, key_of(batch, ".batch.gz"), gzip.compress(batch, 1))
            if i % 5 == 0:  # came twice, under another day
                store(self.lake, key_of(batch, day="2026-11-21"), batch)
        one = one_process(self.folder, batches)
        with connect(2, None) as client:
            try:
                for shards in (1, 4, 16):
                    job = self.job(f"work{shards}", shards)
                    result = self.fold(job, Dask(client))
                    self.assertEqual(self.whole(job, result), one)
                    self.assertEqual((result.batches, result.quarantined, result.odd), (60, [], 0))
                killed = self.job("killed", 16, shoal=deadly(self.folder, "deadly", 3, 2))
                before = set(client.scheduler_info()["workers"])
                self.assertEqual(self.whole(killed, self.fold(killed, Dask(client))), one)
                self.assertGreater(len(before - set(client.scheduler_info()["workers"])), 0)
                twin = self.job("twin", 8)
                self.assertEqual(self.whole(twin, self.fold(twin, Twice(Dask(client)))), one)
                self.assertEqual(self.fold(twin, Dask(client)).batches, 0)  # nothing is new
            finally:
                client.cluster.close()

    def test_a_driver_that_dies_is_run_again(self) -> None:
        batches = simulate(self.folder, 12, 100, "driver")
        for batch in batches:
            store(self.lake, key_of(batch), batch)
        words = [
            "--recipe",
            "recipe.json",
            "--lake",
            "lake",
            "--work",
            "work",
            "--shards",
            "6",
            "-o",
            "w.acc",
        ]
        command = [sys.executable, str(SCALE / "drive.py"), *words, "--shoal"]
        dies = deadly(self.folder, "dies", 3, 1)
        done = subprocess.run([*command, dies], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
        late = simulate(self.folder, 2, 100, "later")  # belong to the next generation
        for batch in late:
            store(self.lake, key_of(batch), batch)
        done = subprocess.run(
            [*command, crowd.SHOAL], cwd=self.folder, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"earlier": 3,', done.stdout)
        self.assertEqual((self.folder / "w.acc").read_bytes(), one_process(self.folder, batches))
        result = self.fold(job := self.job("work", 6))
        self.assertEqual((result.generation, result.batches), (2, 2))
        self.assertEqual(
            self.whole(job, result), one_process(self.folder, late, "late.acc", ["one.acc.man"])
        )

    def test_what_is_bad_is_named_and_set_aside(self) -> None:
        batches = simulate(self.folder, 20, 100, "bad")
        for batch in batches[:10]:
            store(self.lake, key_of(batch), batch)
        write_recipe(self.folder / "other.json", recipe="other")
        (other,) = simulate(self.folder, 1, 100, "other", "other.json")
        old = ["--devices", "100", "--seed", "old", "--format", "batch-1", "-o", "old"]
        shoal(
            "simulate", "--recipe", "recipe.json", "--counts", "counts.tsv", *old, cwd=self.folder
        )
        version_1 = (self.folder / "old").read_bytes()
        flipped = bytearray(batches[10])
        flipped[200] ^= 1
        bad = {
            key_of(batches[10]): (bytes(flipped), "checksum"),
            key_of(batches[11]): (batches[11][:500], "too early"),
            key_of(batches[12]): (batches[0], "not the one of its name"),
            key_of(batches[13]): (batches[13] + batches[14], "not the one of its name"),
            key_of(batches[15]): (b"hello\n", "holds lines"),
            key_of(batches[16], ".batch.gz"): (
                gzip.compress(b"\0" * (1 << 26)),
                "holds no batches",
            ),
            key_of(batches[17]): (batches[10][:24] + other[24:], ""),
            key_of(other).replace(other[24:56].hex(), self.hash): (other, "another recipe"),
            f"{self.hash}/2026-11-22/{version_1[56:57].hex()}/{id_of(version_1)}.batch": (
                version_1,
                "version 1",
            ),
            key_of(batches[18]): (b"", ""),
        }
        for key, (data, _) in bad.items():
            store(self.lake, key, data)
        (self.lake / key_of(batches[19])).parent.mkdir(parents=True, exist_ok=True)
        (self.lake / key_of(batches[19])).symlink_to("/etc/passwd")
        bad[key_of(batches[19])] = (b"", "is no file")
        store(self.lake, f"{self.hash}/2026-11-22/zz/readme.txt", b"odd")
        job = self.job("work", 4)
        result = self.fold(job)
        self.assertEqual(self.whole(job, result), one_process(self.folder, batches[:10]))
        self.assertEqual(sorted(one["key"] for one in result.quarantined), sorted(bad))
        for one in result.quarantined:
            self.assertIn(bad[one["key"]][1], one["why"])
            self.assertFalse((self.lake / one["key"]).exists())
            self.assertTrue(os.path.lexists(self.lake / one["moved_to"]), one)
        self.assertEqual((result.odd, result.attempts), (1, 2))
        self.assertTrue((self.lake / f"{self.hash}/2026-11-22/zz/readme.txt").exists())
        # The names are free again: the true bytes count in the next generation.
        for batch in batches[10:14]:
            store(self.lake, key_of(batch), batch)
        result = self.fold(job)
        self.assertEqual((result.generation, result.batches, result.quarantined), (2, 4, []))

    def test_a_failure_that_is_not_the_objects_is_no_quarantine(self) -> None:
        for batch in simulate(self.folder, 3, 50, "full"):
            store(self.lake, key_of(batch), batch)
        broken = self.folder / "broken"
        broken.write_text(f'#!/bin/sh\n[ "$1" != ingest ] || exit 5\nexec "{crowd.SHOAL}" "$@"\n')
        broken.chmod(0o755)
        with self.assertRaises(RuntimeError):
            self.fold(self.job("work", 1, shoal=str(broken)))
        self.assertFalse((self.lake / "quarantine").exists())
        self.assertEqual(self.fold(self.job("work", 1)).batches, 3)

    def test_sums_and_two_servers_are_refused(self) -> None:
        for protocol in ("sum", "dap"):
            write_recipe(self.folder / "sum.json", aggregation={"protocol": protocol})
            with self.assertRaisesRegex(Refused, "aggregation"):
                hash_of((self.folder / "sum.json").read_bytes(), crowd.SHOAL)


def walkthrough() -> str:
    """The commands of docs/scale.md, as people would type them."""
    page = (SCALE.parent / "docs/scale.md").read_text()
    (block,) = re.findall(r"```sh walkthrough\n(.*?)```", page, re.DOTALL)
    return str(block)


class Puts(Case):
    def test_files_of_batches_become_objects(self) -> None:
        batches = simulate(self.folder, 5, 40, "put")
        file = self.folder / "all.batches"
        file.write_bytes(b"".join(batches))
        self.assertEqual(put.put(self.hash, str(self.lake), [str(file)]), (5, 0))
        self.assertEqual(put.put(self.hash, str(self.lake), [str(file)] * 2), (0, 10))
        self.assertEqual(
            [(self.lake / key_of(batch)).read_bytes() for batch in batches], batches
        )
        result = self.fold(job := self.job("work", 2))
        self.assertEqual(self.whole(job, result), one_process(self.folder, batches))

    def test_what_is_no_batch_is_refused_by_its_place(self) -> None:
        first, second = simulate(self.folder, 2, 40, "refused")
        other = bytearray(second)
        other[24] ^= 1
        version_1 = second[:8] + struct.pack("<I", 1) + second[12:]
        huge = second[:16] + struct.pack("<I", 0xFFFFFFFF) + second[20:]
        for data, why in (
            (first + b"x", f"at byte {len(first)}"),
            (first + second[:60], f"no batch of version 2 at byte {len(first)}"),
            (first + second[:-1], f"ends within the batch at byte {len(first)}"),
            (first + version_1, "no batch of version 2"),
            (first + huge, "larger than any"),
            (first + bytes(other), "another recipe"),
        ):
            (self.folder / "bad").write_bytes(data)
            with self.assertRaisesRegex(Refused, why):
                put.put(self.hash, str(self.lake), [str(self.folder / "bad")])


class Walkthrough(Case):
    def test_the_docs_walkthrough_counts_every_batch_once(self) -> None:
        bucket = FakeBucket()
        self.addCleanup(bucket.close)
        (self.folder / "scale").symlink_to(SCALE)
        (self.folder / "bin").mkdir()
        (self.folder / "bin/shoal").symlink_to(Path(crowd.SHOAL).absolute())
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        # A virtual environment is found by its program's own folder.
        wrapper = self.folder / "bin/python"
        wrapper.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        wrapper.chmod(0o755)
        for name in ("lake", "work"):
            lake.Bucket(name).client.create_bucket(Bucket=name)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", walkthrough()],
            cwd=self.folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")
        self.assertIn("0 new", done.stdout)  # Monday's batches came again
        asks = ["--recipe", "words.json", "--dictionary", "counts.tsv", "--format", "csv"]
        files = ["monday.batches", "tuesday.batches"]
        shoal("ingest", "--recipe", "words.json", "-o", "one.acc", *files, cwd=self.folder)
        said = [
            shoal("estimate", *asks, name, cwd=self.folder) for name in ("all.acc", "one.acc")
        ]
        self.assertEqual(said[0], said[1])


class Buckets(Case):
    def test_lost_answers_and_a_lake_that_grows(self) -> None:
        bucket = FakeBucket(lost=0.0)
        self.addCleanup(bucket.close)
        kept = lake.Bucket("lake")
        kept.client.create_bucket(Bucket="lake")
        bucket.lost = 0.05
        batches = simulate(self.folder, 30, 100, "grows")

        def put(some: list[bytes]) -> None:
            for batch in some:
                file = self.folder / f"put-{id_of(batch)}"
                file.write_bytes(batch)
                for _ in range(2):  # every batch comes twice
                    lake.put_same(kept, key_of(batch), file, self.folder)

        put(batches[:10])
        writer = threading.Thread(target=put, args=(batches[10:],))
        writer.start()
        job = self.job("s3://lake/work", 3, "s3://lake")
        results = []
        while writer.is_alive():
            results.append(self.fold(job))
        writer.join()
        results.append(self.fold(job))
        results = [result for result in results if result.batches]
        self.assertEqual(sum(result.batches for result in results), 30)
        self.assertEqual(
            [result.generation for result in results], list(range(1, len(results) + 1))
        )
        names = []
        for result in results:
            names.append(f"generation{result.generation}.acc")
            (self.folder / names[-1]).write_bytes(self.whole(job, result))
        shoal("merge", "-o", "all.acc", *names, cwd=self.folder)
        one_process(self.folder, batches)
        (self.folder / "d.txt").write_text("cod\nplaice\n")
        asks = ["estimate", "--recipe", "recipe.json", "--dictionary", "d.txt", "--format", "csv"]
        said = [shoal(*asks, name, cwd=self.folder) for name in ("all.acc", "one.acc")]
        self.assertEqual(said[0], said[1])
        self.assertGreater(bucket.losses, 0)
        # What is counted is deleted; a repeat that comes later counts nothing and goes too.
        args = [
            "--recipe",
            str(self.folder / "recipe.json"),
            "--lake",
            job.lake,
            "--work",
            job.work,
        ]
        deletes = arguments([*args, "--delete-counted", "--shoal", crowd.SHOAL])
        self.assertEqual(drive(deletes, OneProcess()).deleted, 30)
        put(batches[:1])
        again = drive(deletes, OneProcess())
        self.assertEqual((again.batches, again.deleted), (0, 1))
        self.assertEqual([item for item in kept.list(f"{self.hash}/")], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
