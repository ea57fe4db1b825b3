"""A folder of one machine as POSIX promises it, and no better: what is not synced may be lost.

    write ──► content ──sync of the file──► durable        rename ──► names ──sync──► durable names

A power loss leaves any part of what was written since the last sync: a torn line, blocks of zeros
where content was to be, a file that is as short or as long as before.  Of names that were changed
each comes back as it was, or as it is.
"""

import errno
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

_SHORT, _ZEROS, _NEWLINE = 0.2, 0.3, 0.5
"""How often a write takes half of what it is given, and what a power loss makes of the rest."""


@dataclass
class Inode:
    """One file: what a process reads, and what is left without power."""

    content: bytes = b""
    durable: bytes = b""

    def power_lost(self, random: Random) -> None:
        """Keep what was synced, and any part of what was not."""
        self.content = self.durable = _left(self.durable, self.content, random)


class SimFolder:
    """One folder; implements `tasks.durable_files.Folder`."""

    def __init__(self, where: str, random: Random, reached: Callable[[str], None]) -> None:
        self._where = Path(where)
        self._random = random
        self._reached = reached
        self.full = False
        """The disk is."""
        self._names: dict[str, Inode] = {}
        self._durable_names: dict[str, Inode] = {}

    @property
    def durable(self) -> Mapping[str, bytes]:
        """What is left of each file, at the worst, if the power is lost now."""
        return {name: inode.durable for name, inode in self._durable_names.items()}

    def path(self, name: str) -> Path:
        """Return where a file is said to be."""
        return self._where / name

    def names(self) -> set[str]:
        """Return the names of all files."""
        return set(self._names)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if there is none."""
        inode = self._names.get(name)
        return None if inode is None else inode.content

    @contextmanager
    def open(self, name: str, *, new: bool = False) -> Iterator["SimFile"]:
        """Open a file that exists; `new`: create it, or empty it."""
        if new:
            inode = self._names.setdefault(name, Inode())
            inode.content = b""
        elif name not in self._names:
            raise FileNotFoundError(errno.ENOENT, "no such file", str(self.path(name)))
        yield SimFile(self, self._names[name], "Replace" if new else "Append")

    def rename(self, name: str, new_name: str) -> None:
        """Rename a file."""
        self._names[new_name] = self._names.pop(name)
        self._reached("worker:unsynced:Rename")

    def delete(self, name: str) -> None:
        """Delete a file; if there is none, nothing happens."""
        if self._names.pop(name, None) is not None:
            self._reached("worker:unsynced:Delete")

    def sync(self) -> None:
        """Make the names durable."""
        self._durable_names = dict(self._names)

    def reached(self, point: str) -> None:
        """Pass a point at which the process may end."""
        self._reached(point)

    def takes(self, size_bytes: int) -> int:
        """Return how much of a write is taken at once: all, or a part as the system likes.

        Raises:
            OSError: there is no space.
        """
        if self.full:
            raise OSError(errno.ENOSPC, "no space left on device")
        if size_bytes > 1 and self._random.random() < _SHORT:
            return self._random.randint(1, size_bytes - 1)
        return size_bytes

    def power_lost(self) -> None:
        """Forget what was not synced, or a part of it."""
        left: dict[str, Inode] = {}
        for name in sorted(self._names.keys() | self._durable_names.keys()):
            before, now = self._durable_names.get(name), self._names.get(name)
            inode = now if before is now or self._random.random() < 0.5 else before
            if inode is not None:
                left[name] = inode
        for inode in {id(inode): inode for inode in left.values()}.values():
            inode.power_lost(self._random)
        self._names, self._durable_names = left, dict(left)

    def wiped(self) -> None:
        """Lose everything."""
        self._names, self._durable_names = {}, {}


class SimFile:
    """One open file; implements `tasks.durable_files.OpenFile`."""

    def __init__(self, folder: SimFolder, inode: Inode, doing: str) -> None:
        self._folder = folder
        self._inode = inode
        self._doing = doing

    def truncate(self, size_bytes: int) -> None:
        """Cut the file; it is not durable yet."""
        if len(self._inode.content) != size_bytes:
            self._inode.content = self._inode.content[:size_bytes].ljust(size_bytes, b"\0")

    def write(self, content: bytes | memoryview) -> int:
        """Write some of it at the end."""
        taken = self._folder.takes(len(content))
        self._inode.content += bytes(content[:taken])
        if taken < len(content):
            self._folder.reached(f"worker:torn:{self._doing}")
        return taken

    def sync(self) -> None:
        """Make the content durable."""
        self._folder.reached(f"worker:unsynced:{self._doing}")
        self._inode.durable = self._inode.content


def _left(durable: bytes, content: bytes, random: Random) -> bytes:
    """Return what is left of a file whose last changes were not synced."""
    if content == durable:
        return durable
    if not content.startswith(durable):
        return random.choice([durable, content])  # it was cut, or is another: in one step
    more = content[len(durable) :]
    kept = random.randint(0, len(more))
    if random.random() >= _ZEROS:
        return durable + more[:kept]
    zeros = more[:kept] + bytes(len(more) - kept)
    if random.random() < _NEWLINE and more.endswith(b"\n"):  # its blocks came in another order
        zeros = zeros[:-1] + b"\n"
    return durable + zeros
