# SPDX-License-Identifier: Apache-2.0
"""The driver of a fold, the same for every engine.

It lists the lake, makes a manifest, gives the engine one task a shard, and merges the results by a
tree. It keeps nothing in memory that it could not read again, so it may die and be run again.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Callable, Protocol, Sequence

from fold import Bad, Job, Merge, Outcome, Refused, Shard, fold_shard, merge_parts, must, run
from lake import OBJECT_MAX, BatchKey, Missing, Store, checksum_of, is_key, open_store, parse_key

FAN_IN = 8
ATTEMPTS = 8  # each attempt leaves out what the one before found bad
OBJECTS_MAX = 32_768  # of a shard: their names are one command line
NAMED = 100  # odd names that a result lists; the rest is a number


class Engine(Protocol):
    def map(self, task: Callable[[Any], Outcome], items: Sequence[Any]) -> list[Outcome]:
        """Runs a task for each item, anywhere and more often if need be."""


class OneProcess:
    """No engine: one task after another, here."""

    def map(self, task: Callable[[Any], Outcome], items: Sequence[Any]) -> list[Outcome]:
        return [task(item) for item in items]


@dataclass
class Result:
    recipe: str
    generation: int = 0
    manifest: str = ""
    batches: int = 0
    shards: int = 0
    earlier: int = 0  # tasks that an earlier run, or a twin, had finished
    attempts: int = 0
    accumulator: str = ""
    quarantined: list[dict[str, str]] = field(default_factory=list)
    odd: int = 0
    odd_names: list[str] = field(default_factory=list)
    deleted: int = 0
    cpu_seconds: float = 0.0


class Listing:
    """The batches of a recipe by id. An id may have several objects: compressed, or of two days."""

    def __init__(self, lake: Store, recipe: str, result: Result) -> None:
        self.by_id: dict[str, list[BatchKey]] = {}
        self.large: list[Bad] = []
        for item in lake.list(f"{recipe}/"):
            key = parse_key(item.key)
            if key is None:
                result.odd += 1
                if len(result.odd_names) < NAMED:
                    result.odd_names.append(item.key[:200])
            elif item.size > OBJECT_MAX:
                self.large.append(
                    Bad(key, f"is no file of at most {OBJECT_MAX} bytes", "too-large")
                )
            else:
                self.by_id.setdefault(key.id, []).append(key)
        for keys in self.by_id.values():
            keys.sort(key=lambda key: key.key)

    def drop(self, bad: Bad) -> None:
        keys = [key for key in self.by_id.pop(bad.key.id, []) if key != bad.key]
        if keys:
            self.by_id[bad.key.id] = keys

    def key_of(self, id: str, recipe: str) -> BatchKey:
        """The object to read. One that is gone gets a name that no object has."""
        return self.by_id.get(id, [BatchKey(recipe, "1970-01-01", id, ".batch")])[0]


def hash_of(recipe: bytes, shoal: str) -> str:
    """The hash of a recipe that a lake may hold."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "recipe.json").write_bytes(recipe)
        words = must(shoal, ["recipe", "hash", "recipe.json"], Path(name)).split()
    aggregation = json.loads(recipe).get("aggregation", {})
    if aggregation.get("protocol") in ("sum", "dap"):
        raise Refused("a lake keeps single records, which the recipe's aggregation forbids", 3)
    return words[0]


class Driver:
    def __init__(self, job: Job, engine: Engine) -> None:
        self.job, self.engine = job, engine
        self.lake, self.work = open_store(job.lake), open_store(job.work)
        self.result = Result(job.hash, shards=job.shards)

    def say(self, words: str) -> None:
        print(f"fold: {words}", file=sys.stderr, flush=True)

    def set_aside(self, bad: Bad) -> None:
        """Names a bad object, and moves it so that its name is free for the true bytes."""
        to = bad.key.aside(bad.checksum) if bad.checksum else ""
        if to:
            self.lake.move(bad.key.key, to)
        self.result.quarantined.append({"key": bad.key.key, "why": bad.why, "moved_to": to})
        self.say(f"{bad.key.key}: {bad.why}" + (f"; it lies at {to} now" if to else ""))

    def open(self, listing: Listing, scratch: Path) -> list[str]:
        """Opens the next attempt, or takes the one that another run opened. Returns its ids."""
        job = self.job
        closed = sorted(item.key for item in self.work.list(f"{job.hash}/closed/"))
        before = len(closed)
        if closed != [replace(job, generation=i + 1).closed for i in range(before)]:
            raise Refused(
                f"{job.hash}/closed/ in {job.work} is not complete: restore all manifests", 5
            )
        job = replace(job, generation=before + 1, attempt=max(job.attempt + 1, 1))
        if self.job.attempt == 0:
            while self.work.has(replace(job, attempt=job.attempt + 1).opened):
                job = replace(job, attempt=job.attempt + 1)
        if job.attempt > ATTEMPTS:
            raise Refused(
                f"{ATTEMPTS} attempts found bad objects each; see {job.hash}/open/ in {job.work}"
            )
        made = scratch / f"{job.attempt}.man"
        if not self.work.has(job.opened):
            folder = scratch / "closed"
            folder.mkdir(exist_ok=True)
            files = [self.work.local(key, folder) for key in closed]
            after = [word for file in files for word in ("--after", str(file))]
            (scratch / "ids.txt").write_text("".join(f"{id}\n" for id in sorted(listing.by_id)))
            args = [
                "manifest",
                "make",
                "--recipe",
                "recipe.json",
                "--ids",
                "ids.txt",
                "-o",
                made.name,
            ]
            done = run(job.shoal, [*args, *after], scratch)
            if done.code == 1 and not made.exists():
                return []
            if done.code != 0:
                raise Refused(done.words, done.code)
            self.work.put_new(job.opened, made)
        fetched = scratch / "opened"
        fetched.mkdir(exist_ok=True)
        there = self.work.local(job.opened, fetched)
        said = json.loads(
            must(job.shoal, ["manifest", "print", "--ids", "--format", "json", str(there)], scratch)
        )
        if said["recipe"] != job.hash or said["generation"] != job.generation:
            raise Refused(f"{job.opened} in {job.work} is a manifest of another generation", 5)
        self.job = replace(job, manifest=said["manifest"])
        return list(said["ids"])

    def fold(self, listing: Listing, ids: list[str]) -> list[Bad]:
        job = self.job
        parts: list[list[BatchKey]] = [[] for _ in range(job.shards)]
        for id in ids:
            # The rule of docs/formats.md: the id's first 8 bytes as a share of 2^64.
            parts[int(id[:16], 16) * job.shards >> 64].append(listing.key_of(id, job.hash))
        if max(map(len, parts)) > OBJECTS_MAX:
            raise Refused(f"a shard has more than {OBJECTS_MAX} objects: take more shards")
        outputs = [job.part(f"shard-{i}") for i in range(1, job.shards + 1)]
        if job.shards == 1:
            outputs = [job.whole]
        tasks = [
            Shard(job, i, output, tuple(keys))
            for i, (output, keys) in enumerate(zip(outputs, parts), 1)
        ]
        outcomes = self.count(self.engine.map(fold_shard, tasks))
        bad = [one for outcome in outcomes for one in outcome.bad]
        if not bad:
            self.merge(outputs)
        return bad

    def merge(self, names: list[str]) -> None:
        level = 1
        while len(names) > 1:
            groups = [names[i : i + FAN_IN] for i in range(0, len(names), FAN_IN)]
            outputs = [self.job.part(f"merge-{level}-{i}") for i in range(1, len(groups) + 1)]
            if len(groups) == 1:
                outputs = [self.job.whole]
            tasks = [Merge(self.job, out, tuple(group)) for out, group in zip(outputs, groups)]
            self.count(self.engine.map(merge_parts, tasks))
            names, level = outputs, level + 1

    def count(self, outcomes: list[Outcome]) -> list[Outcome]:
        self.result.earlier += sum(outcome.is_earlier for outcome in outcomes)
        self.result.cpu_seconds += sum(outcome.cpu_seconds for outcome in outcomes)
        return outcomes

    def close(self, scratch: Path) -> None:
        """The generation counts from here on: later ones leave its batches out."""
        job = self.job
        opened = self.work.local(job.opened, scratch)
        if self.work.put_new(job.closed, opened):
            return
        folder = scratch / "there"
        folder.mkdir()
        if checksum_of(self.work.local(job.closed, folder)) != checksum_of(opened):
            raise Refused(
                f"another run closed generation {job.generation} with other batches: run again"
            )

    def delete_counted(self, scratch: Path) -> None:
        """Deletes the objects of all closed generations, also such as came again later."""
        for item in list(self.work.list(f"{self.job.hash}/closed/")):
            file = self.work.local(item.key, scratch)
            said = json.loads(
                must(
                    self.job.shoal,
                    ["manifest", "print", "--ids", "--format", "json", str(file)],
                    scratch,
                )
            )
            whole = replace(self.job, manifest=said["manifest"]).whole
            if not self.work.has(whole):
                raise Refused(f"{whole} is not there: the objects of {item.key} are kept", 5)
            counted = set(said["ids"])
            for there in list(self.lake.list(f"{self.job.hash}/")):
                key = parse_key(there.key)
                if key is not None and key.id in counted:
                    self.lake.delete(there.key)
                    self.result.deleted += 1

    def run(self) -> Result:
        with tempfile.TemporaryDirectory(prefix="shoal-drive-") as name:
            scratch = Path(name)
            (scratch / "recipe.json").write_bytes(self.job.recipe)
            listing = Listing(self.lake, self.job.hash, self.result)
            for bad in listing.large:
                self.set_aside(bad)
            while ids := self.open(listing, scratch):
                self.result.attempts += 1
                bads = self.fold(listing, ids)
                if not bads:
                    self.close(scratch)
                    self.result.generation = self.job.generation
                    self.result.manifest = self.job.manifest
                    self.result.batches = len(ids)
                    self.result.accumulator = self.job.whole
                    break
                for bad in bads:
                    self.set_aside(bad)
                    listing.drop(bad)
        return self.result


def arguments(words: Sequence[str] | None, *more: tuple[str, dict[str, Any]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Folds what is new in a lake of batches, as one generation, and prints JSON.",
        allow_abbrev=False,
    )
    parser.add_argument("--recipe", required=True, help="the collection's recipe, JSON")
    parser.add_argument("--lake", required=True, help="where batches are: a folder, or s3://bucket")
    parser.add_argument("--work", required=True, help="where results go: a folder, or s3://bucket")
    parser.add_argument("--shards", type=int, default=16, help="1 to 65536; default 16")
    parser.add_argument("--shoal", default="shoal", help="the command, on the workers too")
    parser.add_argument("-o", "--output", help="a copy of the generation's accumulator")
    parser.add_argument("--import", dest="store", help="folder of a stopped server: import there")
    parser.add_argument("--period", help="with --import: the day of the block, YYYY-MM-DD")
    parser.add_argument(
        "--delete-counted", action="store_true", help="then delete the objects that are counted"
    )
    for flag, options in more:
        parser.add_argument(flag, **options)
    args = parser.parse_args(words)
    if not 1 <= args.shards <= 65536:
        parser.error("--shards is 1 to 65536")
    if (args.store is None) != (args.period is None):
        parser.error("--import and --period go together")
    return args


def drive(args: argparse.Namespace, engine: Engine) -> Result:
    recipe = Path(args.recipe).read_bytes()
    lake, work = (
        name if name.startswith("s3://") else str(Path(name).absolute())
        for name in (args.lake, args.work)
    )
    job = Job(recipe, hash_of(recipe, args.shoal), lake, work, args.shards, args.shoal)
    driver = Driver(job, engine)
    result = driver.run()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        if result.accumulator and (args.output or args.store):
            whole = driver.work.local(result.accumulator, scratch)
            if args.output:
                shutil.copyfile(whole, args.output)
            if args.store:
                at = ["--store", str(Path(args.store).absolute()), "--period", args.period]
                own = ["--recipe", str(Path(args.recipe).absolute()), str(whole)]
                print(
                    must(args.shoal, ["store", "import", *at, *own], scratch),
                    end="",
                    file=sys.stderr,
                )
        if args.delete_counted:
            driver.delete_counted(scratch)
    return result


def main(make: Callable[[argparse.Namespace], Engine], args: argparse.Namespace) -> int:
    try:
        print(json.dumps(asdict(drive(args, make(args))), indent=2))
        return 0
    except Refused as error:
        print(f"fold: {error}", file=sys.stderr)
        return error.code
    except (OSError, ValueError, Missing) as error:
        print(f"fold: {error}", file=sys.stderr)
        return 5


if __name__ == "__main__":
    sys.exit(main(lambda _: OneProcess(), arguments(None)))
