"""The warehouse on a shared file system, which every process sees under the same path."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISREG

from supervisor.core.values.errors import StorageUnavailable
from supervisor.ports.tables.warehouse import MARKER

_DATA = "data"
_OWN_DEPTH = 2
"""`<data source>/data` may be a link to another disk; tasks create everything below it."""
_MARKER_NOTICE = (
    "The metadata database of this name knows the files of this folder. Do not change this file:\n"
    "another database would have all of them deleted as nobody's."
)
_STILL_USED = frozenset({errno.ENOTEMPTY, errno.EEXIST})


class LocalWarehouse:
    """Implements `ports.tables.warehouse.Warehouse`; holds no state."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def available(self) -> None:
        """Return if the root can be listed.

        Raises:
            StorageUnavailable: the root cannot be listed.
        """
        _listed(self._root)

    def owner(self) -> str | None:
        """Return the metadata database that the marker names; None: there is no marker."""
        self.available()
        try:
            text = (self._root / MARKER).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise StorageUnavailable(f"{self._root / MARKER} cannot be read: {error}") from error
        return text.partition("\n")[0].strip()

    def mark(self, owner: str) -> None:
        """Write the marker atomically; it replaces the marker before."""
        half = self._root / f"{MARKER}.{os.getpid()}"
        try:
            with half.open("w", encoding="utf-8") as file:
                file.write(f"{owner}\n{_MARKER_NOTICE}\n")
                file.flush()
                os.fsync(file.fileno())
            half.replace(self._root / MARKER)
        except OSError as error:
            raise StorageUnavailable(f"{self._root / MARKER} cannot be written: {error}") from error

    def files_under(self, folder: str) -> list[str]:
        """Return the sorted paths of all files and links below `folder`."""
        top = self._at(folder)
        if self._is_behind_link(top) or not top.is_dir():
            return []
        paths = [
            str(Path(place, name).relative_to(self._root))
            for place, folders, names in os.walk(top, onerror=_raise)
            for name in [*names, *(name for name in folders if Path(place, name).is_symlink())]
        ]
        return sorted(paths)

    def size_of(self, path: str) -> int | None:
        """Return the size of a file in bytes; None: there is none, or a link is in its place."""
        file = self._at(path)
        try:
            status = file.lstat()
        except (FileNotFoundError, NotADirectoryError):
            self.available()
            return None
        except OSError as error:
            reason = error.strerror or str(error)
            raise StorageUnavailable(f"{file} cannot be looked at: {reason}") from error
        is_file = S_ISREG(status.st_mode) and not self._is_behind_link(file.parent)
        return status.st_size if is_file else None

    def delete_file(self, path: str) -> None:
        """Delete a file or a link; a missing file is success."""
        file = self._at(path)
        if not self._is_behind_link(file.parent):
            file.unlink(missing_ok=True)

    def prune(self, folder: str) -> bool:
        """Remove empty folders from the bottom up; return whether there was one."""
        top = self._at(folder)
        if self._is_behind_link(top) or not top.is_dir():
            return False
        places = [Path(place) for place, _, _ in os.walk(top, topdown=False, onerror=_raise)]
        return any([_removed(place) for place in places])  # noqa: C419 -- each is tried

    def tables(self) -> list[str]:
        """Return the sorted names of the folders in the root."""
        return [each.name for each in _listed(self._root) if each.is_dir(follow_symlinks=False)]

    def task_folders(self, data_source: str | None = None) -> Iterator[tuple[str, str]]:
        """Yield (data source, name) of the folders in `<data source>/data`; None: of each table."""
        for table in self.tables() if data_source is None else [data_source]:
            folder = Path(self._root, table)
            data = folder / _DATA
            if data.is_dir() and not (folder.is_symlink() or data.is_symlink()):
                for entry in _listed(data):
                    if entry.is_dir(follow_symlinks=False):
                        yield table, entry.name

    def _at(self, path: str) -> Path:
        assert not {"", ".", ".."} & set(path.split("/")), f"{path!r} does not lie in the warehouse"
        return self._root / path

    def _is_behind_link(self, place: Path) -> bool:
        parts = place.relative_to(self._root).parts
        below = range(_OWN_DEPTH + 1, len(parts) + 1)
        return any(self._root.joinpath(*parts[:depth]).is_symlink() for depth in below)


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageUnavailable(f"the warehouse cannot be read at {folder}: {reason}") from error


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno in _STILL_USED:
            return False
        raise
    return True


def _raise(error: OSError) -> None:
    # If the error were ignored, an unreadable folder would look like an empty one.
    if not isinstance(error, FileNotFoundError):
        raise error
