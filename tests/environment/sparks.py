"""A real Spark for tests, on the Java and the jars that all tests share."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tasks.runtime.jars import FORMATS, SPARK
from tasks.spark.session import SparkOptions, SparkRuntime, start_spark
from tests.environment.brokers import shared_jars, shared_java

__all__ = ["start_test_spark"]


@contextmanager
def start_test_spark(folder: Path) -> Iterator[SparkRuntime]:
    """Run a small Spark of one core that works in `folder`; one per process at a time.

    The jobs of tests are tiny: a second core has nothing to do in them.
    """
    jars = shared_jars(SPARK) + shared_jars(FORMATS)
    options = SparkOptions(shared_java(), jars, folder, master="local[1]", heap="768m")
    runtime = start_spark(options)
    try:
        yield runtime
    finally:
        runtime.stop()
