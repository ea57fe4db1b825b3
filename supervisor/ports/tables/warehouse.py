"""The warehouse port: list and delete files of task folders, and read and write the marker.

    <data source>/data/<task folder>/...     paths are below the warehouse, parts divided by `/`

No method follows a link inside a task's folder or in the place of that folder, because the target
of a link does not belong to the warehouse.
"""

from collections.abc import Iterator
from typing import Protocol

MARKER = ".tidegate-warehouse"
"""File in the root; its first line names the metadata database that the warehouse belongs to."""


class Warehouse(Protocol):
    """Files below one root."""

    def available(self) -> None:
        """Return if the storage answers.

        Raises:
            StorageUnavailable: the root does not exist or cannot be read.
        """
        ...

    def owner(self) -> str | None:
        """Return the metadata database that the marker in the root names; None: there is no marker.

        Raises:
            StorageUnavailable: the marker could not be read.
        """
        ...

    def mark(self, owner: str) -> None:
        """Write the marker atomically; it replaces the marker before.

        Raises:
            StorageUnavailable: the marker could not be written.
        """
        ...

    def files_under(self, folder: str) -> list[str]:
        """Return the paths of all files and links below `folder`, at any depth, sorted.

        The list is empty if `folder` is missing or a link.

        Raises:
            OSError: a part of `folder` could not be read, so the list would be incomplete.
        """
        ...

    def size_of(self, path: str) -> int | None:
        """Return the size of a file in bytes; None: there is none, or a link is in its place.

        Raises:
            StorageUnavailable: the storage does not answer.
        """
        ...

    def delete_file(self, path: str) -> None:
        """Delete a file, or a link itself; a missing file is success.

        Raises:
            OSError: the file is still there.
        """
        ...

    def prune(self, folder: str) -> bool:
        """Remove empty folders in `folder`, then `folder` itself if it is empty.

        The result says whether there was an empty folder.

        Raises:
            OSError: an empty folder could not be removed.
        """
        ...

    def tables(self) -> list[str]:
        """Return the sorted names of the folders that may be tables; links are left out.

        Raises:
            StorageUnavailable: the root could not be read.
        """
        ...

    def task_folders(self, data_source: str | None = None) -> Iterator[tuple[str, str]]:
        """Yield (data source, name) of each folder in which a task might have written.

        Those of one table, or of all.  Links are left out.

        Raises:
            StorageUnavailable: a folder could not be read.
        """
        ...
