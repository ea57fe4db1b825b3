"""An archive of the classes that a test's Spark loads: its JVM starts in two thirds of the time.

    python -m tests.environment.class_archive     prints the options for JDK_JAVA_OPTIONS

It is made as the product's own is, once for a Java and its jars.
"""

import os
import sys
from fcntl import LOCK_EX, flock

from tasks.ingest.class_archive import make_archive
from tasks.runtime.jars import FORMATS, SPARK
from tests.environment.brokers import shared_cache_dir, shared_jars, shared_java


def options() -> str:
    """Return the options as JDK_JAVA_OPTIONS wants them, made if there is no archive yet."""
    folder = shared_cache_dir() / "archive"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        flock(lock, LOCK_EX)  # who comes second waits, and uses it
        archive = make_archive(shared_java(), shared_jars(SPARK) + shared_jars(FORMATS), folder)
    return " ".join(f'"{flag}"' for flag in archive.flags)


if __name__ == "__main__":
    os.environ.pop("JDK_JAVA_OPTIONS", None)  # options of an earlier call name the archive
    sys.stdout.write(f"{options()}\n")
