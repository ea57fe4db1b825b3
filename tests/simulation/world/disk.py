"""Files that are written, and only then synced: what a machine loses when its power goes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tasks.contract.offsets import TopicPartition
from tests.simulation.world.folder import SimFolder

_SUFFIX = ".jsonl"
Row = tuple[TopicPartition, int, int | None]
"""Partition, offset and id of the record that a row was made of."""


@dataclass
class DataFile:
    """A file of the warehouse on the disk of one machine."""

    rows: tuple[Row, ...]
    machine: str
    synced: bool = False


def size_of(rows: Sequence[Row]) -> int:
    """Return the size that a file with these rows is said to have."""
    return len(rows) + 1


class Warehouse:
    """The folder that all workers write into."""

    def __init__(self) -> None:
        self.files: dict[str, DataFile] = {}
        self.removals = 0
        """How often files went."""

    def write(self, path: str, rows: tuple[Row, ...], machine: str) -> None:
        """Write a file; it is not durable yet."""
        self.files[path] = DataFile(rows, machine)

    def sync(self, paths: list[str]) -> None:
        """Make files durable, with the folders above them."""
        for path in paths:
            if path in self.files:
                self.files[path].synced = True

    def delete(self, path: str) -> None:
        """Delete a file; done already is fine."""
        self.files.pop(path, None)
        self.removals += 1

    def durable(self, path: str) -> bool:
        """Tell whether a file is there, and stays without power."""
        found = self.files.get(path)
        return found is not None and found.synced

    def rows(self, path: str) -> list[Row] | None:
        """Return the rows of a file; None if it is not there."""
        found = self.files.get(path)
        return None if found is None else list(found.rows)

    def size_of(self, path: str) -> int | None:
        """Return the size of a file; None if it is not there."""
        found = self.files.get(path)
        return None if found is None else size_of(found.rows)

    def power_lost(self, machine: str) -> None:
        """Forget what that machine had not synced."""
        self.removals += 1
        kept = self.files.items()
        self.files = {p: f for p, f in kept if f.synced or f.machine != machine}


class Disk:
    """The data folder of one worker: its incarnation and its journals."""

    def __init__(self, name: str, random: Random, reached: Callable[[str], None]) -> None:
        self.incarnation = 0
        self.folder = SimFolder(f"{name}/journal", random, reached)

    @property
    def full(self) -> bool:
        """Whether nothing can be written."""
        return self.folder.full

    @full.setter
    def full(self, full: bool) -> None:
        self.folder.full = full

    @property
    def journals(self) -> dict[str, bytes]:
        """Task -> what its journal holds for certain, whatever happens to the power."""
        kept = self.folder.durable.items()
        return {n.removesuffix(_SUFFIX): c for n, c in kept if n.endswith(_SUFFIX)}

    def next_incarnation(self, drawn: int) -> int:
        """Draw a number higher than any before; durable."""
        self.incarnation = max(self.incarnation + 1, drawn)
        return self.incarnation

    def power_lost(self) -> None:
        """Forget what was not synced, or a part of it."""
        self.folder.power_lost()

    def wiped(self) -> None:
        """Lose the whole folder."""
        self.folder.wiped()
        self.incarnation = 0
