"""Exported tables, a stand-in for Delta and Iceberg: per export a chain of versions.

    open ─► the newest version ─► commit against it ─► the next version, whole
                                       └─ somebody has committed since: refused

A call can fail, a commit with or without its effect; it can take long; and its process can die at
each step.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from supervisor.core.tables.exports import ExportChange, ExportedFile, ExportVersion
from supervisor.core.values.errors import ExportUnavailable

ExportKey = tuple[str, str]
"""Table and format."""


class LakeVersion(NamedTuple):
    """One version of an exported table."""

    at: float
    sequence: int
    """The number of the list that it was made of, as its writer says."""
    term: int
    """The term in which its writer began."""
    files: Mapping[str, int]
    """Path below the table's folder -> size in bytes."""


@dataclass
class Lakes:
    """What every exported table holds; it outlives every process."""

    now: Callable[[], float]
    versions: dict[ExportKey, list[LakeVersion]] = field(default_factory=dict)
    away_until: float = -1.0
    """No call is answered until then."""

    def newest(self, export: ExportKey) -> LakeVersion | None:
        """Return the newest version of one; None: there is no such table yet."""
        chain = self.versions.get(export)
        return chain[-1] if chain else None

    def number(self, export: ExportKey) -> int | None:
        """Return the number of its newest version; None: there is none."""
        chain = self.versions.get(export)
        return len(chain) - 1 if chain else None


@dataclass(frozen=True)
class LakeAccess:
    """How one life of an overlord reaches the exported tables."""

    reached: Callable[[str], None]
    """Called with each step: the process may end, or wait there."""
    fails: Callable[[], bool]
    """Draws whether this call fails."""
    term: Callable[[], int]
    """The last term in which the process began to work."""
    committed: Callable[[ExportKey, LakeVersion], None]


class SimFormat:
    """One table format; implements `ports.tables.exports.TableFormat`."""

    def __init__(self, name: str, lakes: Lakes, access: LakeAccess) -> None:
        self._name = name
        self._lakes = lakes
        self._access = access

    def open(self, data_source: str) -> "OpenedLake":
        """Open a table as it is now.

        Raises:
            ExportUnavailable: it cannot be read.
        """
        self._available()
        if self._access.fails():
            raise ExportUnavailable("the log of the table cannot be read")
        opened = OpenedLake((data_source, self._name), self._lakes, self._access)
        self._access.reached("lake:opened")
        return opened

    def _available(self) -> None:
        if self._lakes.now() < self._lakes.away_until:
            raise ExportUnavailable("the exported tables are away")


class OpenedLake:
    """One exported table as it was opened; implements `ports.tables.exports.OpenTable`."""

    def __init__(self, export: ExportKey, lakes: Lakes, access: LakeAccess) -> None:
        self._export = export
        self._lakes = lakes
        self._access = access
        self._term = access.term()
        self._number = lakes.number(export)
        newest = lakes.newest(export)
        self.held: Mapping[str, int] = {} if newest is None else newest.files

    @property
    def standing(self) -> ExportVersion:
        """Where a reader opens it, and its version."""
        table, name = self._export
        return ExportVersion(self._number, "" if self._number is None else f"{table}/{name}")

    def commit(self, change: ExportChange, sequence: int, now: datetime) -> ExportVersion:
        """Add and take out files in one commit.

        Raises:
            ExportUnavailable: somebody has committed since, or the outcome is not known.
        """
        del now
        if self._lakes.now() < self._lakes.away_until or self._access.fails():
            raise ExportUnavailable("the commit could not be written")
        if self._lakes.number(self._export) != self._number:
            raise ExportUnavailable("somebody else has committed")
        added = {file.path: _size(file) for file in change.add}
        kept = {path: size for path, size in self.held.items() if path not in change.remove}
        version = LakeVersion(self._lakes.now(), sequence, self._term, {**kept, **added})
        self._lakes.versions.setdefault(self._export, []).append(version)
        self._access.committed(self._export, version)
        self._number, self.held = self._lakes.number(self._export), version.files
        self._access.reached("lake:committed")
        if self._access.fails():
            raise ExportUnavailable("no answer came to the commit")
        return self.standing


def _size(file: ExportedFile) -> int:
    assert not file.casts, "no column of the simulation changes its type"
    return file.size_bytes


class NoCopyNeeded:
    """No column of the simulation changes its type; implements `ports.tables.exports.Copies`."""

    def size_of(self, data_source: str, file: ExportedFile) -> int | None:
        """Never be called."""
        raise AssertionError(f"{file.path} of {data_source} has no copy")

    def make(self, data_source: str, file: ExportedFile) -> int:
        """Never be called."""
        raise AssertionError(f"{file.path} of {data_source} needs no copy")
