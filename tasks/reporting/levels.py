"""Which tasks are reported, by how they ended; pure.

    always                     all, as it comes
    failures                   what failed, or ended without a word
    failures-not-user-errors   the same, but not what the user's records or topics are the reason of

A task whose end decides is reported at its end alone: no progress, and its log waits on the disk.
One that is not wanted sends a `completion`, which a persister counts and does not store.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tasks.contract.messages import FailureCode
from tasks.reporting.record import RecordOrigin

__all__ = ["USER_ERRORS", "ReportLevel", "ReportLevels", "TaskEnding", "read_levels"]

USER_ERRORS = frozenset({FailureCode.TOO_MANY_PARSE_EXCEPTIONS, FailureCode.TOPIC_CHANGED})
"""Failures that a user causes and mends: records that do not fit, a topic that was made anew."""


class ReportLevel(StrEnum):
    """What of an origin is reported."""

    ALWAYS = "always"
    FAILURES = "failures"
    FAILURES_NOT_USER_ERRORS = "failures-not-user-errors"


@dataclass(frozen=True)
class TaskEnding:
    """How a task ended."""

    succeeded: bool
    failure: FailureCode | None = None
    """None: it succeeded, or ended without a word."""


@dataclass(frozen=True)
class ReportLevels:
    """The level of each origin; `always` for those that are not named."""

    of: Mapping[RecordOrigin, ReportLevel] = field(default_factory=dict)
    spills: bool = False
    """Whether payloads of executions that are too large for a record are sent whole, as logs."""

    def at_once(self, origin: RecordOrigin, *, debug: bool) -> bool:
        """Return whether all of a task is sent as it comes, however the task ends."""
        return debug or self._level(origin) is ReportLevel.ALWAYS

    def wants(self, origin: RecordOrigin, ending: TaskEnding, *, debug: bool) -> bool:
        """Return whether a task that has ended so is reported."""
        if self.at_once(origin, debug=debug):
            return True
        if ending.succeeded:
            return False
        level = self._level(origin)
        return level is ReportLevel.FAILURES or ending.failure not in USER_ERRORS

    def _level(self, origin: RecordOrigin) -> ReportLevel:
        return self.of.get(origin, ReportLevel.ALWAYS)


def read_levels(text: str) -> ReportLevels:
    """Read one level for all, or `<origin>=<level>` with commas between them.

    Raises:
        ValueError: a name is not known, or an origin is named twice; the text says which.
    """
    levels: dict[RecordOrigin, ReportLevel] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        origin, equals, level = part.rpartition("=")
        if not equals and "," not in text:
            return ReportLevels(dict.fromkeys(RecordOrigin, _level_of(level)))
        which = _origin_of(origin.strip())
        if which in levels:
            raise ValueError(f"{which} is named twice")
        levels[which] = _level_of(level.strip())
    return ReportLevels(levels)


def _level_of(text: str) -> ReportLevel:
    if text not in set(ReportLevel):
        raise ValueError(f"{text!r} is no level: {', '.join(ReportLevel)}")
    return ReportLevel(text)


def _origin_of(text: str) -> RecordOrigin:
    if text not in set(RecordOrigin):
        raise ValueError(f"{text!r} is no origin: {', '.join(RecordOrigin)}")
    return RecordOrigin(text)
