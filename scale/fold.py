# SPDX-License-Identifier: Apache-2.0
"""The tasks of a fold, the same for every engine: a shard, and a merge.

Every output has a name that follows from the manifest and the split, and is written once. So tasks
may be lost, repeated or run twice at once, and so may the driver (drive.py).

The tasks run the command `shoal` and not the Python package: it is one file without dependencies,
its memory is the system's again after each task, and a fault ends a command and not the worker.

In the work store, below the recipe's hash:

    open/000001-1.man         generation 1, attempt 1: what is being folded
    <manifest>/16/shard-3.acc shard 3 of 16; merge-1-2.acc is the second merge of the first level
    <manifest>/whole.acc      the generation
    closed/000001.man         the generation is complete: later ones leave its batches out
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from lake import (
    OBJECT_MAX,
    BatchKey,
    Missing,
    TooLarge,
    checksum_of,
    open_store,
    put_same,
)


class Refused(Exception):
    """What the driver does not do, in words, with the exit code of the commands."""

    def __init__(self, words: str, code: int = 1) -> None:
        super().__init__(words)
        self.code = code


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    words: str


@dataclass(frozen=True)
class Job:
    """What every task of one manifest needs."""

    recipe: bytes
    hash: str
    lake: str
    work: str
    shards: int
    shoal: str = "shoal"
    generation: int = 0
    attempt: int = 0
    manifest: str = ""

    @property
    def opened(self) -> str:
        return f"{self.hash}/open/{self.generation:06d}-{self.attempt}.man"

    @property
    def closed(self) -> str:
        return f"{self.hash}/closed/{self.generation:06d}.man"

    @property
    def whole(self) -> str:
        return f"{self.hash}/{self.manifest}/whole.acc"

    def part(self, name: str) -> str:
        return f"{self.hash}/{self.manifest}/{self.shards}/{name}.acc"


@dataclass(frozen=True)
class Shard:
    job: Job
    number: int
    output: str
    keys: tuple[BatchKey, ...]


@dataclass(frozen=True)
class Merge:
    job: Job
    output: str
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class Bad:
    """An object that does not count, and why. Without a checksum it cannot be set aside by one."""

    key: BatchKey
    why: str
    checksum: str


@dataclass(frozen=True)
class Outcome:
    output: str
    bad: tuple[Bad, ...] = ()
    is_earlier: bool = False  # an earlier run, or a twin, had finished the task
    cpu_seconds: float = 0.0


def run(shoal: str, args: Sequence[str], folder: Path) -> Done:
    done = subprocess.run(
        [shoal, *args], cwd=folder, capture_output=True, text=True, errors="replace"
    )
    return Done(done.returncode, done.stdout, done.stderr.strip())


def must(shoal: str, args: Sequence[str], folder: Path) -> str:
    done = run(shoal, args, folder)
    if done.code != 0:
        raise Refused(done.words or f"{args[0]} ended with {done.code}", max(done.code, 1))
    return done.out


def cpu_now() -> float:
    """Processor time of this process and of the commands that it ran."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def judge(job: Job, key: BatchKey, file: Path, scratch: Path) -> Bad | None:
    """Opens one object and checks that it holds the batch that it is named after."""
    made = scratch / "one.man"
    made.unlink(missing_ok=True)
    done = run(
        job.shoal,
        ["manifest", "make", "--recipe", "recipe.json", "-o", made.name, file.name],
        scratch,
    )
    if done.code < 0:
        raise RuntimeError(f"{key.key}: the check was ended by signal {-done.code}")
    why = done.words.rpartition("shoal: manifest make: ")[2]
    if done.code == 0:
        found = json.loads(
            must(job.shoal, ["manifest", "print", "--ids", "--format", "json", made.name], scratch)
        )
        if found["ids"] == [key.id]:
            return None
        why = f"holds {found['batches']} batches, such as {found['ids'][0]}, and not the one of its name alone"
    return Bad(key, why, checksum_of(file))


def fold_shard(task: Shard) -> Outcome:
    """Folds a shard's objects into its accumulator. What is found bad is named, and nothing is written."""
    job, start = task.job, cpu_now()
    work, lake = open_store(job.work), open_store(job.lake)
    if work.has(task.output):
        return Outcome(task.output, is_earlier=True)
    bad: list[Bad] = []
    with tempfile.TemporaryDirectory(prefix="shoal-shard-") as name:
        scratch = Path(name)
        (scratch / "recipe.json").write_bytes(job.recipe)
        (scratch / "objects").mkdir()
        (scratch / "m.man").symlink_to(work.local(job.opened, scratch / "objects"))
        files: dict[BatchKey, Path] = {}
        for key in task.keys:
            try:
                there = lake.local(key.key, scratch / "objects")
            except Missing:
                bad.append(Bad(key, "is gone", ""))
            except TooLarge:
                bad.append(Bad(key, f"has more than {OBJECT_MAX} bytes", "too-large"))
            else:
                files[key] = scratch / f"{key.id}{key.ending}"
                files[key].symlink_to(there)
        args = ["ingest", "--recipe", "recipe.json", "--manifest", "m.man", "--threads", "1"]
        shard = ["--shard", f"{task.number}/{job.shards}", "-o", "out.acc"]
        # A shard without batches has an accumulator too: its claim shows that nothing was forgotten.
        inputs = [file.name for file in files.values()] or [os.devnull]
        if not bad:
            done = run(job.shoal, [*args, *shard, *inputs], scratch)
            if done.code == 0:
                is_first = put_same(work, task.output, scratch / "out.acc", scratch)
                return Outcome(task.output, (), not is_first, cpu_now() - start)
        found = (judge(job, key, file, scratch) for key, file in files.items())
        bad += [one for one in found if one is not None]
        if not bad:  # not the objects' fault: the engine tries again
            raise RuntimeError(f"shard {task.number} of {job.shards}: {done.words or done.code}")
    return Outcome(task.output, tuple(bad), False, cpu_now() - start)


def merge_parts(task: Merge) -> Outcome:
    """Adds accumulators of the work store to one more."""
    job, start = task.job, cpu_now()
    work = open_store(job.work)
    if work.has(task.output):
        return Outcome(task.output, is_earlier=True)
    with tempfile.TemporaryDirectory(prefix="shoal-merge-") as name:
        scratch = Path(name)
        files = [str(work.local(key, scratch)) for key in task.inputs]
        done = run(job.shoal, ["merge", "-o", "out.acc", *files], scratch)
        if done.code != 0:
            raise RuntimeError(f"{task.output}: {done.words or done.code}")
        is_first = put_same(work, task.output, scratch / "out.acc", scratch)
    return Outcome(task.output, (), not is_first, cpu_now() - start)
