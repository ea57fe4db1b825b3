"""An in-memory warehouse with injected failures, for simulation and tests."""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from supervisor.core.values.errors import StorageUnavailable

_TASK_DEPTH = 3


class MemoryWarehouse:
    """Implements `ports.tables.warehouse.Warehouse` with the rules of `LocalWarehouse`."""

    def __init__(self) -> None:
        self._files: dict[str, int] = {}
        """Path -> size in bytes."""
        self._links: set[str] = set()
        self._folders: set[str] = set()
        self._failures = Counter[str]()
        self._down = ""
        self._broken = set[str]()
        self._owner: str | None = None

    def write(self, path: str, size_bytes: int = 1) -> str:
        """Create a file and its parent folders; return the path."""
        self.make_folder(str(PurePosixPath(path).parent))
        self._files[path] = size_bytes
        return path

    def make_folder(self, folder: str) -> None:
        """Create a folder and its parent folders."""
        place = PurePosixPath(folder)
        self._folders |= {str(f) for f in (place, *place.parents) if f.parts}

    def link(self, path: str) -> None:
        """Create a link to a place outside of the warehouse."""
        self.make_folder(str(PurePosixPath(path).parent))
        self._links.add(path)

    def holds(self, path: str) -> bool:
        """Return whether a file, link or folder has this path."""
        return path in self._files.keys() | self._links | self._folders

    def fail_deletions(self, path: str, times: int) -> None:
        """Make the next `times` deletions of one file fail."""
        self._failures[path] = times

    def break_table(self, data_source: str) -> None:
        """Make the folder of one table unreadable."""
        self._broken.add(data_source)

    def go_down(self, why: str = "no answer") -> None:
        """Make every call fail until `come_back`."""
        self._down = why

    def come_back(self) -> None:
        """End the failure; no file was lost."""
        self._down = ""

    def available(self) -> None:
        """Return if the warehouse is not down.

        Raises:
            StorageUnavailable: the warehouse is down.
        """
        if self._down:
            raise StorageUnavailable(f"the warehouse cannot be read: {self._down}")

    def owner(self) -> str | None:
        """Return the metadata database that the marker names; None: there is no marker."""
        self.available()
        return self._owner

    def mark(self, owner: str) -> None:
        """Set the marker to this metadata database."""
        self.available()
        self._owner = owner

    def files_under(self, folder: str) -> list[str]:
        """Return the sorted paths of all files and links below `folder`."""
        self._reach(folder)
        return sorted(path for path in self._files.keys() | self._links if _lies_in(path, folder))

    def size_of(self, path: str) -> int | None:
        """Return the size of a file in bytes; None: there is none, or a link is in its place."""
        self.available()
        behind_link = any(str(folder) in self._links for folder in PurePosixPath(path).parents)
        return None if behind_link or path in self._links else self._files.get(path)

    def delete_file(self, path: str) -> None:
        """Delete a file or a link; a missing file is success."""
        self._reach(path)
        if self._failures[path] > 0:
            self._failures[path] -= 1
            raise PermissionError(f"{path} cannot be deleted")
        self._files.pop(path, None)
        self._links.discard(path)

    def prune(self, folder: str) -> bool:
        """Remove empty folders from the bottom up; return whether there was one."""
        self._reach(folder)
        empty = {
            f
            for f in self._folders
            if (f == folder or _lies_in(f, folder)) and not self.files_under(f)
        }
        self._folders -= empty
        return bool(empty)

    def tables(self) -> list[str]:
        """Return the sorted names of the folders in the root."""
        self.available()
        return sorted({PurePosixPath(folder).parts[0] for folder in self._folders})

    def task_folders(self, data_source: str | None = None) -> Iterator[tuple[str, str]]:
        """Yield (data source, name) of the folders in `<data source>/data`; None: of each table."""
        self.available()
        if self._broken & {data_source}:
            raise StorageUnavailable(f"the warehouse cannot be read at {data_source}")
        for folder in sorted(self._folders):
            parts = PurePosixPath(folder).parts
            is_wanted = data_source in {None, parts[0]}
            if is_wanted and len(parts) == _TASK_DEPTH and parts[1] == "data":
                yield parts[0], parts[2]

    def _reach(self, path: str) -> None:
        if self._down:
            raise OSError(f"{path}: {self._down}")


def _lies_in(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")
