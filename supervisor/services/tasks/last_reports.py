"""Reports of workers that repeat the one before: they are neither parsed nor validated again.

    body ─┬─ the last one of its worker, but for the sequence ─► that report, with its own sequence
          └─ any other ─► parsed and validated ─► kept as the last one of its worker

A worker reports each second, and of most of its tasks, which wait for records, there is nothing new
to say.  To read its two thousand positions would take most of the time of a sync.
"""

import json
import re
from collections import OrderedDict
from dataclasses import dataclass, field

from tasks.contract.messages import SyncRequest

__all__ = ["LastReports"]

BYTES_MAX = 32 * 1024 * 1024
"""Of the bodies that are kept; those of workers that were silent for longest go first."""
_SEQUENCE = re.compile(rb'"sequence":(0|[1-9][0-9]{0,17})(?=[,}])')
_AGAIN = (b'"sequence"', rb"\u")
"""What may name the sequence a second time, which is the one that counts."""
_LOOKED_AT = 8 * 1024
"""Bytes from the start of a body in which a worker writes its sequence."""


@dataclass(frozen=True)
class _LastReport:
    before: bytes
    behind: bytes
    report: SyncRequest

    @property
    def size(self) -> int:
        return len(self.before) + len(self.behind)


@dataclass
class LastReports:
    """The last report of each worker, with its text; for one thread."""

    bytes_max: int = BYTES_MAX
    _kept: OrderedDict[str, _LastReport] = field(default_factory=OrderedDict)
    _bytes: int = 0

    def repeated(self, worker: str, body: bytes) -> SyncRequest | None:
        """Return what a body says, if only its sequence differs from the last one's; else None."""
        kept, parts = self._kept.get(worker), _split(body)
        if kept is None or parts is None:
            return None
        before, sequence, behind = parts
        if (before, behind) != (kept.before, kept.behind):
            return None
        self._kept.move_to_end(worker)
        return kept.report.model_copy(update={"sequence": sequence})

    def keep(self, body: bytes, report: SyncRequest) -> None:
        """Keep the last body of a worker, and the report that it was found to be."""
        self._drop(report.worker_id)
        parts = _split(body)
        if parts is None or parts[1] != report.sequence or len(body) > self.bytes_max:
            return
        if not _is_outermost(parts[0]) or any(each in parts[2] for each in _AGAIN):
            return
        kept = _LastReport(parts[0], parts[2], report)
        self._kept[report.worker_id] = kept
        self._bytes += kept.size
        while self._bytes > self.bytes_max:
            self._drop(next(iter(self._kept)))

    def _drop(self, worker: str) -> None:
        if (kept := self._kept.pop(worker, None)) is not None:
            self._bytes -= kept.size


def _split(body: bytes) -> tuple[bytes, int, bytes] | None:
    """Return a body around its first sequence, and that; None: there is none near its start."""
    match = _SEQUENCE.search(body, 0, _LOOKED_AT)
    if match is None:
        return None
    return body[: match.start(1)], int(match[1]), body[match.end() :]


def _is_outermost(before: bytes) -> bool:
    """Whether the number behind this start of a body is the `sequence` of its outermost object."""
    try:
        document = json.loads(before + b"0}")
    except ValueError:
        return False
    return isinstance(document, dict) and document.get("sequence") == 0
