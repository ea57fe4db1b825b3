"""A cache of the counts of errors files: a file never changes, so each is counted once."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from supervisor.core.tables.bad_records import BadCount
from supervisor.ports.tables.quarantine import RawRecords

KEPT_MAX = 200_000
"""Counts that are kept, over all files; those of files that nobody asks for go first."""


@dataclass(frozen=True)
class BadCounts:
    """Counts of bad records by file; one instance per process, safe to call from many threads."""

    raw: RawRecords
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _kept: OrderedDict[str, tuple[BadCount, ...]] = field(default_factory=OrderedDict)
    """Path -> the counts of its records, those asked for last at the end."""

    def of(self, paths: Sequence[str]) -> list[BadCount]:
        """Return the counts of some files; only files that are not kept are read.

        Raises:
            StorageUnavailable: a file cannot be read now.
        """
        with self._lock:
            known = {path: self._kept[path] for path in paths if path in self._kept}
        missing = [path for path in paths if path not in known]
        read = {path: tuple(counts) for path, counts in self.raw.counts(missing).items()}
        with self._lock:
            for path, counts in {**known, **read}.items():
                self._kept[path] = counts
                self._kept.move_to_end(path)
            kept = sum(1 + len(counts) for counts in self._kept.values())
            while kept > KEPT_MAX:
                kept -= 1 + len(self._kept.popitem(last=False)[1])
        return [each for counts in (*known.values(), *read.values()) for each in counts]
