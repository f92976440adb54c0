# SPDX-License-Identifier: Apache-2.0
"""Folds a generation on Spark: `spark-submit spark_fold.py ...`, or by Python with --master."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Callable, Sequence

from pyspark.sql import SparkSession

from drive import arguments, main
from fold import Outcome


class Spark:
    def __init__(self, session: Any) -> None:
        self.context = session.sparkContext
        for module in ("lake.py", "fold.py"):
            self.context.addPyFile(str(Path(__file__).with_name(module)))

    def map(self, task: Callable[[Any], Outcome], items: Sequence[Any]) -> list[Outcome]:
        return list(self.context.parallelize(items, len(items)).map(task).collect())


def connect(master: str | None) -> Any:
    builder = SparkSession.builder.appName("shoal fold")
    if master:
        builder = builder.master(master)
    # A second copy of a slow task is harmless, since outputs are written once.
    return builder.config("spark.speculation", "true").getOrCreate()


if __name__ == "__main__":
    args = arguments(None, ("--master", {"help": "such as local-cluster[2,1,1024]"}))
    session = connect(args.master)
    try:
        status = main(lambda _: Spark(session), args)
    finally:
        session.stop()
    sys.exit(status)
