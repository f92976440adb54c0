# SPDX-License-Identifier: Apache-2.0
"""Measures folds of a large lake, for the figures of docs/scale.md. It is no test of every run.

    SHOAL=build/release/shoal PYTHONPATH=scale python tests/scale/measure.py FOLDER RECORDS [spark]

It fills FOLDER with a lake of that many records and with a lake of as many batches that are almost
empty. It folds both: by one process, and by an engine on 16 shards. The fold of the second is the
fixed cost. The results must be equal, byte for byte. The lakes stay until FOLDER is deleted.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import crowd
from crowd import key_of, shoal, split, store, write_recipe
from dask_fold import Dask, connect
from drive import Driver, OneProcess, hash_of
from fold import Job

EACH = 65_536  # records of a batch: 8.25 MiB
SHARDS = 16
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    cpu: float
    seconds: float
    result: bytes = b""


def tree() -> list[list[str]]:
    """/proc/*/stat of this process and of all below it, without pid and name."""
    stats: dict[int, list[str]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stats[int(folder.name)] = (folder / "stat").read_text().rpartition(") ")[2].split()
            except OSError:
                continue  # it has ended
    found, added = {os.getpid()}, {os.getpid()}
    while added:
        added = {pid for pid, stat in stats.items() if int(stat[1]) in found} - found
        found |= added
    return [stats[pid] for pid in found if pid in stats]


def tree_cpu() -> float:
    """Processor seconds of this process and all below it, with those that have ended."""
    return sum(int(number) for stat in tree() for number in stat[11:15]) / TICK


def fill(folder: Path, name: str, batches: int, each: int) -> Path:
    """A lake of batches that have `each` records."""
    at, step = folder / name, 30
    if at.exists():
        return at
    for first in range(0, batches, step):
        count = min(step, batches - first)
        for i in range(count if each < EACH else 1):
            devices = each if each < EACH else count * EACH
            where = ["--devices", str(devices), "--first", str((first + i) * EACH)]
            what = ["--recipe", "recipe.json", "--counts", "counts.tsv", "--seed", name]
            out = ["--sealed", "2026-11-22", "-o", "simulated", "--threads", "1"]
            shoal("simulate", *what, *where, *out, cwd=folder)
            for batch in split((folder / "simulated").read_bytes()):
                store(at, key_of(batch), batch)
    (folder / "simulated").unlink()
    return at


def one_process(folder: Path, lake: Path) -> Cost:
    """The commands by hand: a manifest of the names, as the driver makes it, then one fold."""
    cpu, start = tree_cpu(), time.monotonic()
    man, acc = f"{lake.name}.man", f"{lake.name}.acc"
    files = [str(file) for file in sorted(lake.rglob("*.batch"))]
    (folder / "ids.txt").write_text("".join(f"{Path(file).stem}\n" for file in files))
    shoal("manifest", "make", "--recipe", "recipe.json", "--ids", "ids.txt", "-o", man, cwd=folder)
    what = ["--recipe", "recipe.json", "--manifest", man, "--threads", "1", "-o", acc]
    shoal("ingest", *what, *files, cwd=folder)
    return Cost(tree_cpu() - cpu, time.monotonic() - start, (folder / acc).read_bytes())


def driven(folder: Path, lake: Path, engine: Any, name: str, shards: int = SHARDS) -> Cost:
    recipe = (folder / "recipe.json").read_bytes()
    work = folder / f"{lake.name}-{name}"
    job = Job(recipe, hash_of(recipe, crowd.SHOAL), str(lake), str(work), shards, crowd.SHOAL)
    cpu, start = tree_cpu(), time.monotonic()
    result = Driver(job, engine).run()
    cost = Cost(tree_cpu() - cpu, time.monotonic() - start, (work / result.accumulator).read_bytes())
    size = sum(file.stat().st_size for file in work.rglob("*.acc"))
    print(f"  {result.batches} batches, partials and results {size} bytes", flush=True)
    return cost


def say(name: str, lake: Path, cost: Cost) -> Cost:
    print(f"{name}, {lake.name}: {cost.cpu:.2f} s CPU, {cost.seconds:.1f} s", flush=True)
    return cost


def compare(folder: Path, name: str, engine: Any, large: Path, empty: Path, plain: float) -> None:
    fixed = say(name, empty, driven(folder, empty, engine, name))
    cost = say(name, large, driven(folder, large, engine, name))
    if cost.result != (folder / "large.acc").read_bytes():
        sys.exit(f"{name}: the result differs from that of one process")
    print(f"{name}: beyond its fixed cost {(cost.cpu - fixed.cpu) / plain:.3f} of one process's")


def main() -> None:
    folder, batches = Path(sys.argv[1]).absolute(), -(-int(sys.argv[2]) // EACH)
    folder.mkdir(parents=True, exist_ok=True)
    write_recipe(folder / "recipe.json", parameters={"epsilon": 4, "k": 2048, "m": 1024})
    (folder / "counts.tsv").write_text(crowd.COUNTS)
    large, empty = fill(folder, "large", batches, EACH), fill(folder, "empty", batches, 16)
    size = sum(file.stat().st_size for file in large.rglob("*.batch"))
    print(f"{batches * EACH} records, {size} bytes; load {os.getloadavg()}", flush=True)
    costs = [say("one process", lake, one_process(folder, lake)) for lake in (empty, large)]
    plain = costs[1].cpu - costs[0].cpu
    compare(folder, "no-engine", OneProcess(), large, empty, plain)
    if "spark" in sys.argv:
        from spark_fold import Spark, connect as connect_spark

        os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
        start = tree_cpu()
        session = connect_spark("local-cluster[2,1,1024]")
        print(f"spark: {tree_cpu() - start:.1f} s CPU until it is ready")
        compare(folder, "spark", Spark(session), large, empty, plain)
        session.stop()
    with connect(2, None) as client:
        compare(folder, "dask", Dask(client), large, empty, plain)
        client.cluster.close()


if __name__ == "__main__":
    main()
