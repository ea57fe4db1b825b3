"""An archive of the classes that a test's Spark loads: its JVM starts in two thirds of the time.

    python -m tests.environment.class_archive     prints the options for JDK_JAVA_OPTIONS

Made once for a Java and its jars, by a Spark that runs what every worker runs first.  A JVM that
finds other jars than these does without it, and says nothing.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from fcntl import LOCK_EX, flock
from pathlib import Path

import pyspark

from tasks.ingest.warm import warm_up
from tasks.runtime.java import Java
from tests.environment.brokers import shared_cache_dir, shared_java
from tests.environment.sparks import start_test_spark

_QUIET = "-Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off"
_TIMEOUT_S = 300


def options(archive: Path) -> str:
    """Return what a JVM has to be told, as JDK_JAVA_OPTIONS wants it."""
    return f'-XX:SharedArchiveFile="{archive}" {_QUIET}'


def class_archive(java: Java, folder: Path) -> Path:
    """Return the archive below `folder`, made if it is not there; others are removed.

    Raises:
        subprocess.SubprocessError: Java could not make it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{_key(java)}.jsa"
    with (folder / "lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not archive.exists():
            for old in folder.glob("*.jsa"):
                old.unlink()
            _make(java, archive)
    return archive


def _key(java: Java) -> str:
    """Name what an archive is valid for: the JVM compares the same, and ignores any other."""
    jars = sorted((Path(pyspark.__file__).parent / "jars").iterdir())
    about = [(str(jar), jar.stat().st_size, jar.stat().st_mtime_ns) for jar in jars]
    described = repr([str(java.executable), java.version, about])
    return hashlib.sha256(described.encode()).hexdigest()[:16]


def _make(java: Java, archive: Path) -> None:
    base = archive.with_name(f"base-{archive.name}")  # the one on top of it names it by its place
    _run(str(java.executable), "-Xshare:dump", f"-XX:SharedArchiveFile={base}")
    before = os.environ.get("JDK_JAVA_OPTIONS", "")
    os.environ["JDK_JAVA_OPTIONS"] = f"{before} {options(base)} -XX:+RecordDynamicDumpInfo"
    half = archive.with_suffix(".half")
    with tempfile.TemporaryDirectory() as work, start_test_spark(Path(work)) as spark:
        warm_up(spark.session, Path(work) / "warm")
        jcmd = java.executable.with_name("jcmd")
        _run(str(jcmd), str(spark.pid), "VM.cds", "dynamic_dump", str(half))
    half.rename(archive)


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, timeout=_TIMEOUT_S, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    found = class_archive(shared_java(), shared_cache_dir() / "classes")
    sys.stdout.write(f"{options(found)}\n")
