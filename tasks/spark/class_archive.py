"""The class archive of a worker's JVM: classes that an earlier JVM has loaded and checked.

    ahead of time   base ──► a JVM that records ──► warm-up ──► dump ──► fsync, rename
    a worker        a JVM that maps it

    <jars>/classes/<key>-base.jsa   the classes of Java: the Java from PyPI has no such archive
                  /<key>.jsa        those of Spark, on top of the base
                  /lock             held by the one process that makes it

A worker makes none: a JVM that records takes twice the time to start.  A JVM ignores an archive
that does not fit or is damaged.  Source: JEP 310, JEP 350.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import IO, TypeVar

import structlog

from tasks.durable_files import make_folder, sync_folder
from tasks.runtime.errors import RuntimePartError
from tasks.runtime.java import Java
from tasks.runtime.tied import tied_argv
from tasks.spark.session import SparkOptions, SparkRuntime, start_spark

log = structlog.get_logger()

SPACE_BYTES = 512 << 20
"""Free space that an archive and its base need; they take 180 MB."""

_TIMEOUT_S = 300.0
_TAIL = 300
_HALF = "classes.half"
_OTHERS_MAY_WRITE = 0o022
_VARIABLES = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
_CHOICES = ("-Xshare", "SharedArchive", "ArchiveClassesAtExit")
_QUIET = (
    "-Xshare:auto",  # an archive that does not fit is no error
    "-XX:+VerifySharedSpaces",  # nor is one that the disk has damaged
    "-Xlog:cds=off",
    "-Xlog:cds+dynamic=off",
)
_Warm = TypeVar("_Warm")


class ArchiveError(RuntimePartError):
    """There can be no archive now; the message says why."""


@dataclass(frozen=True)
class _Making:
    """An attempt of this process, which holds the lock."""

    jcmd: Path
    archive: Path
    lock: IO[str]


@dataclass(frozen=True)
class ClassArchive:
    """What the next JVM does: map an archive, record one, or neither."""

    flags: tuple[str, ...] = ()
    """Flags of the JVM."""
    file: Path | None = None
    """The archive that it maps."""
    making: _Making | None = None

    def keep(self, pid: int, work_dir: Path) -> None:
        """Have a JVM that records, and is warm, write its archive; for any other do nothing.

        `work_dir` is the JVM's working folder, so that its name needs no quotes.

        Raises:
            ArchiveError: the JVM could not write it.
            OSError: it could not be moved into place.
        """
        if self.making is None:
            return
        half = work_dir / _HALF
        try:
            _run(str(self.making.jcmd), str(pid), "VM.cds", "dynamic_dump", half.name)
            _settle(half, self.making.archive)
        finally:
            self.making.lock.close()
            half.unlink(missing_ok=True)

    def drop(self) -> bool:
        """Give up what the JVM ended with; return whether a JVM without it may do better."""
        if self.making is not None:
            self.making.lock.close()
        if self.file is not None:
            with suppress(OSError):  # the folder of an image is read-only
                self.file.unlink(missing_ok=True)
        return bool(self.flags)


def find_archive(java: Java, class_path: Sequence[Path], *folders: Path) -> ClassArchive:
    """Return what the next JVM with this Java and class path maps; often nothing.

    Archives lie beside jars, in the first of `folders` that has one.  If a variable of Java
    chooses an archive, or none, it decides.
    """
    if is_chosen(os.environ):
        return ClassArchive()
    with suppress(OSError):  # a jar or a file of Java cannot be read: the JVM says more
        for folder in folders:
            archive = _place(java, class_path, folder)
            if _is_safe(archive, _base_of(archive)):
                return ClassArchive(_mapping(archive), archive)
    return ClassArchive()


def begin_archive(java: Java, class_path: Sequence[Path], folder: Path) -> ClassArchive:
    """Take the lock, remove other archives and make the base, for a JVM that records.

    Raises:
        ArchiveError: there can be no archive, or another process makes it.
        OSError: the folder cannot be written.
    """
    if is_chosen(os.environ):
        raise ArchiveError(f"one of {', '.join(_VARIABLES)} chooses an archive, or none")
    archive = _place(java, class_path, folder)
    jcmd, into = java.executable.resolve().with_name("jcmd"), archive.parent
    if not jcmd.is_file():
        raise ArchiveError(f"this Java has no jcmd: {java.executable}; a JDK has it")
    if os.pathsep in str(into):
        raise ArchiveError(f"the JVM takes {into} for two names")
    make_folder(into)
    into.chmod(0o755)
    lock = (into / "lock").open("w")
    try:
        _lock(lock)
        _check_room(into)
        base = _dumped_base(java, archive)
    except BaseException:
        lock.close()
        raise
    flags = (*_mapping(base), "-XX:+RecordDynamicDumpInfo")
    return ClassArchive(flags, making=_Making(jcmd, archive, lock))


def start_with(
    archive: ClassArchive, options: SparkOptions, warm: Callable[[SparkRuntime], _Warm]
) -> tuple[SparkRuntime, _Warm]:
    """Start Spark and warm it up; return it with the result of `warm`.

    If that fails with an archive, the archive is deleted, and it is done once more without.

    Raises:
        SparkFailed: the JVM ended, or did not answer in time.
    """
    try:
        return _start(archive, options, warm)
    except Exception as error:
        if not archive.drop():
            raise
        log.warning("starting again without the class archive", why=str(error))
    return _start(ClassArchive(), options, warm)


def is_chosen(environment: Mapping[str, str]) -> bool:
    """Return whether the operator's flags for Java choose an archive, or none."""
    texts = [environment.get(name, "") for name in _VARIABLES]
    return any(choice in text for choice in _CHOICES for text in texts)


def _start(
    archive: ClassArchive, options: SparkOptions, warm: Callable[[SparkRuntime], _Warm]
) -> tuple[SparkRuntime, _Warm]:
    runtime = start_spark(replace(options, flags=archive.flags))
    try:
        result = warm(runtime)
    except BaseException:
        runtime.stop()
        raise
    return runtime, result


def _place(java: Java, class_path: Sequence[Path], jars: Path) -> Path:
    """Name the archive by all that it is valid for; the JVM compares the same, times in seconds."""
    folder = jars.absolute() / "classes"
    executable = java.executable.resolve()
    files = (executable, executable.parent.parent / "lib" / "modules", *class_path)
    looks = [(str(file), file.stat()) for file in files]
    about = [(name, look.st_size, int(look.st_mtime)) for name, look in looks]
    options = [os.environ.get(name, "") for name in _VARIABLES]
    described = repr((str(folder), about, options))  # the archive names its base with the folder
    return folder / f"{hashlib.sha256(described.encode()).hexdigest()[:16]}.jsa"


def _base_of(archive: Path) -> Path:
    return archive.with_name(f"{archive.stem}-base.jsa")


def _is_safe(*files: Path) -> bool:
    """Return whether files of one folder are there, and nobody else can have written them.

    An archive is code, and no digest of it is known.
    """
    try:
        looks = [path.stat() for path in (*files, files[0].parent)]
    except OSError:
        return False
    return all(
        look.st_uid in {0, os.geteuid()} and not look.st_mode & _OTHERS_MAY_WRITE for look in looks
    )


def _mapping(archive: Path) -> tuple[str, ...]:
    return (f"-XX:SharedArchiveFile={archive}", *_QUIET)


def _lock(lock: IO[str]) -> None:
    try:
        flock(lock, LOCK_EX | LOCK_NB)  # the system drops the lock of a dead process
    except BlockingIOError as error:
        raise ArchiveError("another process makes it now") from error


def _check_room(folder: Path) -> None:
    if shutil.disk_usage(folder).free < SPACE_BYTES:
        raise ArchiveError(f"less than {SPACE_BYTES >> 20} MiB are free in {folder}")


def _dumped_base(java: Java, archive: Path) -> Path:
    base = _base_of(archive)
    kept = {archive.stem, base.stem}
    for old in archive.parent.glob("*.*"):
        if old.stem not in kept:
            old.unlink()
    if not _is_safe(base):
        half = base.with_suffix(".half")
        _run(str(java.executable), "-Xshare:dump", f"-XX:SharedArchiveFile={half}")
        _settle(half, base)
    return base


def _settle(half: Path, file: Path) -> None:
    """Rename a file into place when its content is durable."""
    with half.open("rb") as content:
        os.fchmod(content.fileno(), 0o444)
        os.fsync(content.fileno())
    half.replace(file)
    sync_folder(file.parent)


def _run(*argv: str) -> None:
    try:
        done = subprocess.run(
            tied_argv(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ArchiveError(str(error)) from error
    if done.returncode:
        text = done.stdout.decode(errors="replace").strip()[-_TAIL:]
        raise ArchiveError(f"{Path(argv[0]).name} ended with {done.returncode}: {text}")
