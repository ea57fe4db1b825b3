"""A folder of segment files whose processes crash, and whose disk and database fail on demand."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection

from supervisor.adapters.manual_clock import ManualClock
from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.logs.segment_files import Disk, segment_files
from supervisor.adapters.reports.logs.segments import SegmentLogStore
from tests.conformance.reports.log_chunks import NOON


class CrashError(BaseException):
    """The process ends here; nothing in it may go on."""


class FailingDisk(Disk):
    """Does its work until a given call, which fails; a failing write leaves half of its bytes."""

    def __init__(self, fails_at: int, error: BaseException) -> None:
        self._left = fails_at
        self._error = error

    @property
    def has_failed(self) -> bool:
        """Whether the call was reached."""
        return self._left < 0

    def create(self, path: Path) -> int:
        """Fail before the file is there."""
        self._count()
        return super().create(path)

    def write(self, descriptor: int, content: memoryview) -> int:
        """Fail with half of it written."""
        if self._left == 0:
            super().write(descriptor, content[: len(content) // 2])
        self._count()
        return super().write(descriptor, content)

    def sync(self, descriptor: int) -> None:
        """Fail before it is durable."""
        self._count()
        super().sync(descriptor)

    def sync_folder(self, folder: Path) -> None:
        """Fail before it is durable."""
        self._count()
        super().sync_folder(folder)

    def _count(self) -> None:
        self._left -= 1
        if self._left == -1:
            raise self._error


class ForgetfulDisk(Disk):
    """Knows what would be left if the machine lost its power now."""

    def __init__(self) -> None:
        self._written: dict[Path, int] = {}
        """Bytes of each file that are synced."""
        self._paths: dict[int, Path] = {}
        self._entries: set[Path] = set()
        """Files and folders whose entries are synced."""

    def create(self, path: Path) -> int:
        """Remember the file of a descriptor."""
        descriptor = super().create(path)
        self._paths[descriptor] = path
        return descriptor

    def sync(self, descriptor: int) -> None:
        """Remember how much is synced."""
        super().sync(descriptor)
        path = self._paths[descriptor]
        self._written[path] = path.stat().st_size

    def sync_folder(self, folder: Path) -> None:
        """Remember the entries that are synced."""
        super().sync_folder(folder)
        self._entries |= set(folder.iterdir())

    def lose_power(self, folder: Path) -> None:
        """Leave what is synced."""
        for path in folder.glob("*/*"):
            if {path, path.parent, folder} <= self._entries:
                os.truncate(path, self._written.get(path, 0))
            else:
                path.unlink()


class FailingDatabase(ReportDatabase):
    """Fails where a transaction that writes would be committed."""

    error: BaseException | None = None
    before: Callable[[], object] | None = None
    """What others do just before the next transaction that writes."""

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Fail at the commit."""
        before, self.before = self.before, None
        if before is not None:
            before()
        with super().writing() as connection:
            yield connection
            if self.error is not None:
                raise self.error


class SegmentWorld:
    """A folder and a database that survive their processes."""

    def __init__(self, folder: Path, url: str) -> None:
        self.clock = ManualClock(NOON)
        self.folder = folder / "logs"
        self.url = url
        self._databases: list[ReportDatabase] = []

    def open(
        self, disk: Disk | None = None, database: ReportDatabase | None = None
    ) -> SegmentLogStore:
        """A process of the persister `p`."""
        database = database or ReportDatabase(self.url)
        self._databases.append(database)
        return SegmentLogStore(database, self.folder, "p", self.clock, disk)

    def files(self) -> list[Path]:
        """The segment files."""
        return [self.folder / each.segment for each in segment_files(self.folder)]

    def close(self) -> None:
        """Close the databases."""
        for each in self._databases:
            each.close()
