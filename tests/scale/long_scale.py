# SPDX-License-Identifier: Apache-2.0
"""The long tier of scale/: 4,000,000 records on Dask and Spark, and a minute of kills of JetStream."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from typing import Any

import crowd
import lake
from crowd import deadly, id_of, key_of, one_process, simulate, store, write_recipe
from dask_fold import Dask, connect
from fold import cpu_now
from test_scale import SCALE, Case, Twice

NATS = "github.com/nats-io/nats-server/v2@v2.15.2"
MINUTE = float(os.environ.get("SHOAL_KILL_SECONDS", "60"))


def say(words: str) -> None:
    print(words, flush=True)


class Records(Case):
    """4,000,000 records of k = 2048, m = 1024 in 500 batches; every seventh comes twice."""

    def setUp(self) -> None:
        super().setUp()
        write_recipe(self.folder / "recipe.json", parameters={"epsilon": 4, "k": 2048, "m": 1024})
        self.recipe = (self.folder / "recipe.json").read_bytes()
        from drive import hash_of

        self.hash = hash_of(self.recipe, crowd.SHOAL)
        self.batches = simulate(self.folder, 500, 8_000, "four million")
        for i, batch in enumerate(self.batches):
            store(self.lake, key_of(batch), batch)
            if i % 7 == 0:
                store(self.lake, key_of(batch, day="2026-11-21"), batch)
        start = cpu_now()
        self.one = one_process(self.folder, self.batches)
        self.one_cpu = cpu_now() - start

    def check(self, engine: Any, name: str, shards: tuple[int, ...]) -> None:
        for count in shards:
            job = self.job(f"{name}{count}", count)
            started = time.monotonic()
            result = self.fold(job, engine)
            self.assertEqual(self.whole(job, result), self.one)
            seconds = time.monotonic() - started
            say(f"{name}, {count} shards: {seconds:.1f} s, tasks {result.cpu_seconds:.2f} s CPU")
        killed = self.job(f"{name}-killed", 16, shoal=deadly(self.folder, f"deadly-{name}", 3, 2))
        self.assertEqual(self.whole(killed, self.fold(killed, engine)), self.one)
        twin = self.job(f"{name}-twin", 8)
        self.assertEqual(self.whole(twin, self.fold(twin, Twice(engine))), self.one)
        again = self.job(f"{name}-killed", 16)
        shutil.rmtree(self.folder / f"{name}-killed" / self.hash / "closed")
        result = self.fold(again, engine)  # a driver that died before it closed the generation
        self.assertEqual((result.earlier, self.whole(again, result)), (16 + 3, self.one))

    def test_dask_and_spark(self) -> None:
        say(f"one process with its manifest: {self.one_cpu:.2f} s CPU; load {os.getloadavg()}")
        with connect(2, None) as client:
            self.check(Dask(client), "dask", (1, 4, 16))
            client.cluster.close()
        from spark_fold import Spark, connect as connect_spark

        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        session = connect_spark("local-cluster[2,1,1024]")
        self.addCleanup(session.stop)
        self.check(Spark(session), "spark", (1, 4, 16))


class Queue(Case):
    def server(self) -> str:
        """The broker, built here; exact versions come from the Go proxy."""
        tools = SCALE.parent / "build/scale/go"
        program = tools / "nats-server"
        if not program.exists():
            subprocess.run(
                ["go", "install", NATS], check=True, env={**os.environ, "GOBIN": str(tools)}
            )
        self.ports = self.folder / "ports"
        self.ports.mkdir()
        config = self.folder / "nats.conf"
        config.write_text(
            'listen: "127.0.0.1:-1"\nmax_payload: 8MB\n'
            f'jetstream {{ store_dir: "{self.folder}/js", sync_interval: always }}\n'
            f'ports_file_dir: "{self.ports}"\n'
        )
        broker = subprocess.Popen([str(program), "-c", str(config)], stderr=subprocess.DEVNULL)
        self.addCleanup(broker.wait)
        self.addCleanup(broker.kill)
        import json

        while not (files := list(self.ports.iterdir())) or not files[0].read_text():
            time.sleep(0.05)
        return str(json.loads(files[0].read_text())["nats"][0])

    def test_publisher_and_consumer_are_killed_at_random(self) -> None:
        server, draw = self.server(), random.Random(22)
        batches = simulate(self.folder, 400, 200, "queue")
        out = self.folder / "out"
        command = [sys.executable, str(SCALE / "jetstream.py")]
        more = ["--recipe", "recipe.json", "--server", server, "--shoal", crowd.SHOAL]
        sides = {
            "publish": [*command, "publish", "--from", str(out), *more],
            "consume": [*command, "consume", "--lake", str(self.lake), "--until-empty", *more],
        }

        def start(side: str) -> subprocess.Popen[bytes]:
            return subprocess.Popen(sides[side], cwd=self.folder, stdout=subprocess.DEVNULL)

        running = {side: start(side) for side in sides}
        kills, fed, end = 0, 0, time.monotonic() + MINUTE
        while time.monotonic() < end:
            if fed < len(batches):  # every batch comes twice, the second time much later
                for batch in (
                    batches[fed : fed + 8] + batches[max(0, fed - 200) : max(0, fed - 192)]
                ):
                    store(out, key_of(batch), batch)
                fed += 8
            time.sleep(draw.uniform(0.2, 1.0))
            side = draw.choice(list(sides))
            if running[side].poll() is None:
                running[side].send_signal(signal.SIGKILL)
                running[side].wait()
                kills += 1
            running[side] = start(side)
        for side in sides:
            running[side].kill()
            running[side].wait()
        for batch in batches[fed:]:
            store(out, key_of(batch), batch)
        for side in ("publish", "consume"):
            subprocess.run(sides[side], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        result = self.fold(job := self.job("work", 4))
        self.assertEqual((result.batches, result.quarantined), (400, []))
        self.assertEqual(self.whole(job, result), one_process(self.folder, batches))
        self.assertGreater(kills, MINUTE / 10)
        say(f"JetStream: {kills} kills in {MINUTE:.0f} s; 400 batches counted once each")


if __name__ == "__main__":
    unittest.main(verbosity=2)
