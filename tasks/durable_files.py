"""Creation of files and folders that survive a crash, with every call of fsync that this needs."""

import errno
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Protocol

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


class OpenFile(Protocol):
    """One file that is open for writing; what was written is durable after `sync`."""

    def truncate(self, size_bytes: int) -> None:
        """Cut the file, and write there from now on."""
        ...

    def write(self, content: bytes | memoryview) -> int:
        """Write at the end; return how many bytes were taken, which may be fewer than given."""
        ...

    def sync(self) -> None:
        """Make the content durable."""
        ...


class Folder(Protocol):
    """One folder of files; created, renamed and deleted names are durable after `sync`.

    Every method raises OSError as the system does.
    """

    def path(self, name: str) -> Path:
        """Return where a file is, for messages."""
        ...

    def names(self) -> set[str]:
        """Return the names of all files."""
        ...

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if there is none."""
        ...

    def open(self, name: str, *, new: bool = False) -> AbstractContextManager[OpenFile]:
        """Open a file that exists; `new`: create it, or empty it."""
        ...

    def rename(self, name: str, new_name: str) -> None:
        """Rename a file, in one step; it replaces a file of the new name."""
        ...

    def delete(self, name: str) -> None:
        """Delete a file; if there is none, nothing happens."""
        ...

    def sync(self) -> None:
        """Make the names durable."""
        ...


class DiskFile:
    """See `OpenFile`."""

    def __init__(self, file: FileIO) -> None:
        self._file = file

    def truncate(self, size_bytes: int) -> None:
        """Cut the file."""
        self._file.truncate(size_bytes)
        self._file.seek(size_bytes)

    def write(self, content: bytes | memoryview) -> int:
        """Write at the end."""
        return self._file.write(content)

    def sync(self) -> None:
        """Make the content durable."""
        os.fsync(self._file.fileno())


class DiskFolder:
    """A folder of the file system; see `Folder`."""

    def __init__(self, where: Path) -> None:
        self._where = where

    def path(self, name: str) -> Path:
        """Return where a file is."""
        return self._where / name

    def names(self) -> set[str]:
        """Return the names of all files."""
        return {path.name for path in self._where.iterdir()}

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if there is none."""
        try:
            return self.path(name).read_bytes()
        except FileNotFoundError:
            return None

    @contextmanager
    def open(self, name: str, *, new: bool = False) -> Iterator[DiskFile]:
        """Open a file that exists, at its end; `new`: create it, or empty it."""
        with self.path(name).open("wb" if new else "r+b", buffering=0) as file:
            file.seek(0, os.SEEK_END)
            yield DiskFile(file)

    def rename(self, name: str, new_name: str) -> None:
        """Rename a file."""
        self.path(name).replace(self.path(new_name))

    def delete(self, name: str) -> None:
        """Delete a file; if there is none, nothing happens."""
        self.path(name).unlink(missing_ok=True)

    def sync(self) -> None:
        """Make the names durable."""
        sync_folder(self._where)


def write_all(file: OpenFile, content: bytes) -> None:
    """Write at the end of `file`, and make it durable."""
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]
    file.sync()


def half_of(name: str) -> str:
    """Return the name under which the new content of a file is written first."""
    return f"{name}.new"


def replace_in(folder: Folder, name: str, content: bytes) -> None:
    """Replace the content of a file durably: after a crash it has the old or the new content.

    Raises:
        NoSpace: there was no space; the file is unchanged.
    """
    half = half_of(name)
    try:
        with naming_file(folder.path(name)):
            with folder.open(half, new=True) as file:
                write_all(file, content)
            folder.rename(half, name)
            folder.sync()
    except OSError:
        with suppress(OSError):
            folder.delete(half)  # a half-written file must not take the last space
        raise


def replace_file(path: Path, content: bytes) -> None:
    """Replace the content of `path` as `replace_in` does."""
    replace_in(DiskFolder(path.parent), path.name, content)
