"""Creation of files and folders that survive a crash, with every call of fsync that this needs."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_OWNERS, _OTHERS = 0o700, 0o077
"""Rights of the owner, and of all other accounts of the machine."""
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class NoSpace(OSError):
    """The disk is full, or a quota or a size limit is reached; a retry may succeed."""


def is_full(error: OSError) -> bool:
    """Return whether `error` means that there was no space."""
    return error.errno in _FULL


def no_space(what: str, where: Path) -> NoSpace:
    """Return the error that names the place that could not be written, and the remedy."""
    advice = f"no space below {where}: free some or enlarge it, then it goes on by itself"
    return NoSpace(f"{what}: {advice}")


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Add the name of the file to an error of the body that means lack of space.

    Raises:
        NoSpace: the body found no space.
    """
    try:
        yield
    except OSError as error:
        if isinstance(error, NoSpace) or not is_full(error):
            raise
        raise no_space(f"writing {path}: {error.strerror}", path.parent) from error


def sync_folder(folder: Path) -> None:
    """Make the entries of `folder` durable, after any were created, renamed or removed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Create `folder` with its missing parents; the entry of each is durable in its parent."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def make_private(folder: Path) -> None:
    """Create `folder`, durably, for its owner alone; of one that exists, take others' rights away.

    The rights of a folder that belongs to another account stay as they are.
    """
    make_folder(folder.parent)
    with suppress(FileExistsError):
        folder.mkdir(mode=_OWNERS)
        sync_folder(folder.parent)
    with suppress(PermissionError):
        if folder.stat().st_mode & _OTHERS:
            folder.chmod(_OWNERS)


def replace_file(path: Path, content: bytes) -> None:
    """Replace the content of `path` durably: after a crash the file has the old or the new content.

    Raises:
        NoSpace: there was no space; `path` is unchanged.
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
            half.unlink(missing_ok=True)  # a half-written file must not take the last space
        raise
