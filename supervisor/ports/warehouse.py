"""What deleting needs of the warehouse: to see what lies in a task's folder, and to remove it.

    <data source>/data/<task folder>/...     paths are below the warehouse, parts divided by `/`

No method follows a link inside a task's folder, or one in that folder's place: what lies behind
it is not the warehouse's.
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
            StorageUnavailable: the root is not there, or cannot be read.
        """
        ...

    def owner(self) -> str | None:
        """Return the metadata database that the marker in its root names; None: there is none.

        Raises:
            StorageUnavailable: it could not be looked at.
        """
        ...

    def mark(self, owner: str) -> None:
        """Write the marker, in place of the one before, whole or not at all.

        Raises:
            StorageUnavailable: it could not be written.
        """
        ...

    def files_under(self, folder: str) -> list[str]:
        """Return what is no folder below `folder`, at any depth, links too, by path.

        Nothing, if `folder` is missing or a link.

        Raises:
            OSError: a part of it could not be read; no answer would be whole.
        """
        ...

    def delete_file(self, path: str) -> None:
        """Delete a file, or a link itself; a missing one is success.

        Raises:
            OSError: it is still there.
        """
        ...

    def prune(self, folder: str) -> bool:
        """Remove the empty folders in `folder`, then itself if it is empty; tell if any was there.

        Raises:
            OSError: one that is empty could not be removed.
        """
        ...

    def task_folders(self) -> Iterator[tuple[str, str]]:
        """Yield (data source, name) of every folder in which a task might have written.

        Links are left out.

        Raises:
            StorageUnavailable: a folder could not be read.
        """
        ...
