"""Cache of the jars of Spark's Kafka connector, of its formats and of the broker.

Jars are fetched once and checked at every start.

    in place? ──yes──► check each sha256 ──► paths
        │no
        ▼  (one process at a time)
    fetch into a temporary folder ──► check each sha256 ──► rename ──► paths

A crash before the rename leaves a temporary folder, which the next fetch removes.  After the
rename the set is complete.  So a folder with a set's name is never incomplete, and a second start
needs no network.  `python -m tasks.runtime.jars --dir D` fetches ahead of time.
"""

import argparse
import fcntl
import importlib.metadata
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO

from tasks.runtime.errors import JarsError, RuntimePartError
from tasks.runtime.ivy import Ivy
from tasks.runtime.java import Java, find_java
from tasks.runtime.pins import Jar, JarSet, digest, read_lock, refuse_unknown, verified, write_lock

LOCK_TIMEOUT_S = 1200.0
"""How long one process waits for another one that fetches."""

_LOCK_POLL_S = 0.2
_KAFKA_REVISION = "4.3.0"
_SLF4J_SIMPLE = ("org.slf4j", "slf4j-simple", "1.7.36")  # without it the broker logs nothing
_SPARK_NEEDS = {
    *("spark-sql-kafka-0-10_2.13", "spark-token-provider-kafka-0-10_2.13", "kafka-clients"),
    *("commons-pool2", "scala-parallel-collections_2.13", "spark-tags_2.13"),
}


_FORMATS = ("spark-avro_2.13",)  # its dependencies come with PySpark and with the connector


class JarGroup(StrEnum):
    """A group of jars: Spark's Kafka connector and its formats (for `--jars`), or the broker.

    Formats have a group of their own, so a folder that was filled before them stays valid.
    """

    SPARK = "spark"
    FORMATS = "formats"
    KAFKA = "kafka"


SPARK = JarGroup.SPARK
FORMATS = JarGroup.FORMATS
KAFKA = JarGroup.KAFKA


def set_name(part: JarGroup) -> str:
    """Return the name of a group's jar set; the connector is that of the installed PySpark.

    Raises:
        JarsError: PySpark is not installed.
    """
    if part is JarGroup.KAFKA:
        return f"kafka-{_KAFKA_REVISION}"
    prefix = "spark-formats" if part is JarGroup.FORMATS else "spark"
    try:
        return f"{prefix}-{importlib.metadata.version('pyspark')}"
    except importlib.metadata.PackageNotFoundError as error:
        raise JarsError("PySpark is not installed: pip install 'tidegate[spark]'") from error


def pinned_set(part: JarGroup) -> JarSet:
    """Return the pinned jar set of a group.

    Raises:
        JarsError: there are no pins for the installed version.
    """
    name, known = set_name(part), read_lock()
    if name not in known:
        raise JarsError(f"no jars are pinned for {name}; pinned are: {', '.join(sorted(known))}")
    return known[name]


def ensure_jars(
    jars_dir: Path,
    java: Java,
    which: JarGroup,
    *,
    jars_folder: Path | None = None,
    notify: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Return the checked jars of a group, below `jars_dir`/<set>; fetch them if they are absent.

    `jars_dir` is the cache, by default `<data dir>/jars`.  `jars_folder` (`TIDEGATE_JARS`) is a
    user's own folder, flat or with a folder per set; with it nothing is fetched or written.

    Raises:
        JarsError: a jar is absent, unknown, not the pinned one, or could not be fetched; or its
            folder cannot be on a class path.
    """
    pinned = pinned_set(which)
    kept = (jars_folder or jars_dir).absolute()
    _refuse_in(kept, os.pathsep, f"on a Java's class path {os.pathsep!r} parts two names")
    if jars_folder is not None:
        own = jars_folder.absolute() / pinned.name
        return verified(own if own.is_dir() else jars_folder.absolute(), pinned)
    place = jars_dir.absolute() / pinned.name
    if not place.is_dir():
        with _alone(jars_dir, notify):
            if not place.is_dir():  # another process may have fetched while we waited
                _fetch(pinned, place, java, notify)
    refuse_unknown(place, pinned)
    return verified(place, pinned)


def _refuse_in(folder: Path, character: str, why: str) -> None:
    if character in str(folder):
        raise JarsError(
            f"jars cannot lie in {folder}: {why}; "
            "use another data folder, or name a folder that has the jars in TIDEGATE_JARS"
        )


def _fetch(pinned: JarSet, place: Path, java: Java, notify: Callable[[str], None]) -> None:
    _refuse_in(place.parent, "\\", "to Ivy, which fetches them, a backslash is a slash")
    for left in place.parent.glob(".fetching-*"):  # left by a process that was killed
        shutil.rmtree(left)
    cache, half = place.parent / ".ivy", place.parent / f".fetching-{pinned.name}"
    notify(f"fetching {len(pinned.jars)} jars of {pinned.name}")
    Ivy(java, cache).fetch(pinned.jars, half, notify)
    refuse_unknown(half, pinned)
    for path in verified(half, pinned):
        with path.open("rb") as file:
            os.fsync(file.fileno())  # else a power cut could leave the name without the content
    half.rename(place)
    shutil.rmtree(cache)  # Ivy's second copy; after a failure it stays, and a retry goes on from it
    notify(f"{pinned.name} is in {place}")


@contextmanager
def _alone(folder: Path, notify: Callable[[str], None]) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    with (folder / ".lock").open("w") as lock:  # the system drops the lock of a dead process
        if not _locked(lock):
            notify("another process fetches jars; waiting for it")
        while not _locked(lock):
            if time.monotonic() > deadline:
                raise JarsError(f"another process held {lock.name} for {LOCK_TIMEOUT_S:g} s")
            time.sleep(_LOCK_POLL_S)
        yield


def _locked(lock: IO[str]) -> bool:
    """Try to take the lock; return whether this process holds it, perhaps since an earlier call."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def relock(work: Path, java: Java, notify: Callable[[str], None]) -> None:
    """Resolve all sets anew and write `jars.lock`; only here are digests taken on trust."""
    ivy = Ivy(java, work / "ivy")
    shutil.rmtree(work / "kafka", ignore_errors=True)
    shutil.rmtree(work / "spark", ignore_errors=True)
    shutil.rmtree(work / "formats", ignore_errors=True)
    ivy.resolve(
        "org.apache.kafka", "kafka_2.13", _KAFKA_REVISION, into=work / "kafka", notify=notify
    )
    ivy.resolve(*_SLF4J_SIMPLE, into=work / "kafka", notify=notify)
    connector, version = "spark-sql-kafka-0-10_2.13", importlib.metadata.version("pyspark")
    ivy.resolve("org.apache.spark", connector, version, into=work / "spark", notify=notify)
    needed = [jar for jar in _resolved(work / "spark") if jar.artifact in _SPARK_NEEDS]
    for module in _FORMATS:
        ivy.resolve("org.apache.spark", module, version, into=work / "formats", notify=notify)
    formats = [jar for jar in _resolved(work / "formats") if jar.artifact in _FORMATS]
    resolved = {
        JarGroup.KAFKA: _resolved(work / "kafka"),
        JarGroup.SPARK: needed,
        JarGroup.FORMATS: formats,
    }
    write_lock([JarSet(set_name(part), tuple(jars)) for part, jars in resolved.items()])


def _resolved(folder: Path) -> list[Jar]:
    jars = []
    for path in sorted(folder.glob("*/*/*/*.jar")):
        organisation, artifact, revision, _ = path.relative_to(folder).parts
        jars.append(Jar(organisation, artifact, revision, digest(path)))
    return jars


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch jars ahead of time; return 0, or 1 after the reason was printed."""
    parser = argparse.ArgumentParser(prog="python -m tasks.runtime.jars", description=main.__doc__)
    parser.add_argument("--dir", type=Path, required=True, help="cache, e.g. <data dir>/jars")
    parser.add_argument("--which", choices=[*JarGroup, "all"], default="all")
    parser.add_argument("--java", default=os.environ.get("TIDEGATE_JAVA", "auto"))
    parser.add_argument("--from", type=Path, dest="given", help="a folder that has them (offline)")
    parser.add_argument("--relock", action="store_true", help="resolve anew, write jars.lock")
    options = parser.parse_args(arguments)
    try:
        java = find_java(options.java, options.dir)
        _print(f"Java {java.version} at {java.executable}")
        if options.relock:
            relock(options.dir.absolute() / "relock", java, _print)
        for part in JarGroup:
            if options.which in (part, "all"):
                jars = ensure_jars(
                    options.dir, java, part, jars_folder=options.given, notify=_print
                )
                _print(f"{set_name(part)}: {len(jars)} jars checked, in {jars[0].parent}")
    except RuntimePartError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
