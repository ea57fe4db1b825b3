"""Making files and folders that survive a crash: what fsync has to be called on, in one place."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class NoSpace(OSError):
    """The disk is full, or a quota or a limit of size is reached: a repeat may succeed."""


def is_full(error: OSError) -> bool:
    """Tell whether `error` says that there was no space."""
    return error.errno in _FULL


def no_space(what: str, where: Path) -> NoSpace:
    """Return the error that says what could not be written where, and what to do."""
    advice = f"no space below {where}: free some or enlarge it, then it goes on by itself"
    return NoSpace(f"{what}: {advice}")


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Name the file in what the body raises for want of space.

    Raises:
        NoSpace: there was none.
    """
    try:
        yield
    except OSError as error:
        if isinstance(error, NoSpace) or not is_full(error):
            raise
        raise no_space(f"writing {path}: {error.strerror}", path.parent) from error


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable: those made, renamed and removed in it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Create `folder` with its missing parents, each durable in its own parent."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def replace_file(path: Path, content: bytes) -> None:
    """Give `path` this content, durably: after a crash it holds the old one or the new one.

    Raises:
        NoSpace: there was none; `path` is as it was.
    """
    half = path.with_name(f"{path.name}.new")
    try:
        with naming_file(path):
            with half.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            half.replace(path)
            sync_folder(path.parent)
    except OSError:
        with suppress(OSError):
            half.unlink(missing_ok=True)  # what little space there is, it must not keep
        raise
