# SPDX-License-Identifier: Apache-2.0
"""Folds a generation on Dask: on this machine, or on the cluster of a scheduler."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Callable, Sequence

import dask
from distributed import Client, LocalCluster

from drive import arguments, main
from fold import Outcome


class Dask:
    def __init__(self, client: Any, retries: int = 4) -> None:
        self.client, self.retries = client, retries
        if client.cluster is None:  # workers elsewhere get the modules from here
            for module in ("lake.py", "fold.py"):
                client.upload_file(str(Path(__file__).with_name(module)))

    def map(self, task: Callable[[Any], Outcome], items: Sequence[Any]) -> list[Outcome]:
        futures = self.client.map(task, items, retries=self.retries, pure=False)
        return list(self.client.gather(futures))


def connect(workers: int, scheduler: str | None) -> Client:
    # A task that takes its worker along is tried on others before the job fails.
    dask.config.set({"distributed.scheduler.allowed-failures": 8})
    if scheduler:
        return Client(scheduler)
    return Client(
        LocalCluster(
            n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        )
    )


if __name__ == "__main__":
    args = arguments(
        None,
        ("--workers", {"type": int, "default": 2, "help": "processes on this machine; default 2"}),
        ("--scheduler", {"help": "address of a scheduler, such as tcp://10.0.0.1:8786"}),
    )
    with connect(args.workers, args.scheduler) as client:
        status = main(lambda _: Dask(client), args)
        if client.cluster is not None:
            client.cluster.close()
    sys.exit(status)
