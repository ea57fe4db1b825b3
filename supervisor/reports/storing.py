"""One try to store a batch: each record is skipped, stored in its parts, or a dead letter.

A batch that a store refuses for its content is halved until the culprit is alone.  So one bad
record costs some tries, and its neighbours are stored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import structlog

from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.dead_letters import DeadLetter, DeadLetters
from supervisor.ports.reports.logs import LogStore
from supervisor.ports.reports.reports import ReportStore
from supervisor.ports.store_problems import ContentRefused
from supervisor.reports.incoming import Incoming, Parts, parts_of
from tasks.reporting.record import BadRecord, ReportRecord

__all__ = ["Done", "Storing"]

log = structlog.get_logger()

T = TypeVar("T")
Done = Callable[[Incoming, StoreOutcome], None]


@dataclass(frozen=True)
class Storing:
    """The stores of a persister, and where its dead letters go; thread-safe as these are."""

    reports: ReportStore
    logs: LogStore
    letters: DeadLetters
    keeps: Callable[[ReportRecord], bool] = lambda _: True
    """Whether the store's level takes a report; what it does not take is skipped."""

    def ping(self) -> None:
        """Return if both stores can be read and written.

        Raises:
            StoreAway, StoreRefuses: one cannot.
        """
        self.reports.ping()
        self.logs.ping()

    def store(self, batch: Sequence[Incoming], done: Done) -> None:
        """Store a batch; call `done` for each record once nothing can lose it.

        Raises:
            StoreAway, StoreRefuses: those without a call of `done` are to be tried again; what is
                stored of them already is a conflict then.
        """
        bad: dict[Incoming, str] = {}
        parts: dict[Incoming, Parts] = {}
        for item in batch:
            try:
                parts[item] = parts_of(item.body)
            except BadRecord as error:
                bad[item] = str(error)
        outcomes = _Outcomes(bad)
        self._put_logs(parts, outcomes)
        self._put_reports(parts, outcomes)
        for item in parts:
            if item not in bad:
                done(item, outcomes.of.get(item, StoreOutcome.SKIPPED))
        if bad:
            self._bury(bad)
            for item in bad:
                done(item, StoreOutcome.REJECTED)

    def _put_logs(self, parts: Mapping[Incoming, Parts], outcomes: "_Outcomes") -> None:
        chunks = [(item, each.chunk) for item, each in parts.items() if each.chunk is not None]
        _put(chunks, self.logs.put_many, outcomes)

    def _put_reports(self, parts: Mapping[Incoming, Parts], outcomes: "_Outcomes") -> None:
        reports = [
            (item, each.report)
            for item, each in parts.items()
            if each.report is not None and item not in outcomes.bad and self.keeps(each.report)
        ]
        _put(reports, self.reports.put_many, outcomes)

    def _bury(self, bad: Mapping[Incoming, str]) -> None:
        self.letters.put(
            [
                DeadLetter(item.key, item.body, item.topic, item.partition, item.offset, reason)
                for item, reason in bad.items()
            ]
        )
        for item, reason in bad.items():
            log.warning(
                "a report can never be stored: it is a dead letter",
                topic=item.topic,
                partition=item.partition,
                offset=item.offset,
                why=reason,
            )


class _Outcomes:
    """What became of the records of a batch, whose parts are stored one after the other."""

    def __init__(self, bad: dict[Incoming, str]) -> None:
        self.bad = bad
        self.of: dict[Incoming, StoreOutcome] = {}

    def note(self, item: Incoming, outcome: StoreOutcome) -> None:
        """Note the outcome of a part: the worst one is that of the record."""
        worst = max(outcome, self.of.get(item, outcome), key=_WORSE.index)
        self.of[item] = worst
        if outcome is StoreOutcome.MISMATCH:
            log.warning(
                "a record with a known id says something else: the first one is kept",
                topic=item.topic,
                partition=item.partition,
                offset=item.offset,
            )


_WORSE = (
    StoreOutcome.CONFLICT,
    StoreOutcome.STORED,
    StoreOutcome.MISMATCH,
)
"""A record of which one part was new is stored, not a conflict."""


def _put(
    pairs: Sequence[tuple[Incoming, T]],
    put_many: Callable[[Sequence[T]], Sequence[StoreOutcome]],
    outcomes: _Outcomes,
) -> None:
    """Store the parts of records; a part that is refused alone makes its record a dead letter."""
    if not pairs:
        return
    try:
        stored = put_many([part for _, part in pairs])
    except ContentRefused as error:
        if len(pairs) == 1:
            outcomes.bad[pairs[0][0]] = str(error)
            return
        half = len(pairs) // 2
        _put(pairs[:half], put_many, outcomes)
        _put(pairs[half:], put_many, outcomes)
        return
    for (item, _), outcome in zip(pairs, stored, strict=True):
        outcomes.note(item, outcome)
