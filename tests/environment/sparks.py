"""A real Spark for tests, on the Java and the jars that all tests share."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tasks.runtime.jars import FORMATS, SPARK
from tasks.spark.session import SparkOptions, SparkRuntime, start_spark
from tests.environment.brokers import shared_jars, shared_java

__all__ = ["start_test_spark"]


@contextmanager
def start_test_spark(folder: Path) -> Iterator[SparkRuntime]:
    """Run a small Spark that works in `folder`; one per process at a time."""
    cores = min(2, os.cpu_count() or 1)
    jars = shared_jars(SPARK) + shared_jars(FORMATS)
    options = SparkOptions(shared_java(), jars, folder, master=f"local[{cores}]", heap="1g")
    runtime = start_spark(options)
    try:
        yield runtime
    finally:
        runtime.stop()
