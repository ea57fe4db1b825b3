"""Where processes die: each row of the failure tables A and B as a failpoint of a real process.

Of table D there is the one row that needs an instruction as well: a leader that sleeps (D2).

A failpoint ends the process between two instructions, so a row is hit where it says, not somewhere
near.  What has no instruction of its own in this protocol stands at the nearest one, and `why`
says so: end and successor are one transaction (A7), set-end is resume (A6), outcome and status
are one transaction (A11).
"""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """Which kind of process stops."""

    OVERLORD = "overlord"
    WORKER = "worker"


class Verb(StrEnum):
    """What somebody has to ask before the place is reached."""

    APPLY = "apply"
    SUSPEND = "suspend"
    TERMINATE = "terminate"


@dataclass(frozen=True)
class Point:
    """One way to die; `row` names the table's row."""

    row: str
    role: Role
    failpoint: str
    why: str
    verb: Verb | None = None
    in_a_row: int = 1
    """How many leaders die there, one after the other, for one hit."""
    frozen_s: float = 0.0
    """Stopped instead of killed, and continued after so long."""

    @property
    def name(self) -> str:
        """Row and place, unique in the tables."""
        return f"{self.row} {self.failpoint}"


def _a(row: str, failpoint: str, why: str, verb: Verb | None = None) -> Point:
    return Point(row, Role.OVERLORD, failpoint, why, verb)


def _b(row: str, failpoint: str, why: str) -> Point:
    return Point(row, Role.WORKER, failpoint, why)


OVERLORD_POINTS = (
    _a("A1", "before:BeginHandoff:kill", "before the pause is ordered"),
    _a("A2", "sync:told-pause:kill:2", "one answer with the pause is out, the next is not"),
    _a("A3", "before:FixEnd:kill", "all replicas have paused, no end is stored"),
    _a("A4", "after:FixEnd:kill", "the end is stored, nobody has heard it"),
    _a("A5", "sync:told-end:kill:2", "one answer with the end is out, the next is not"),
    _a("A6", "sync:told-end:kill:4", "the end is told, which is the order to read on"),
    _a("A7", "in:FixEnd:kill", "end and successor are one transaction: cut before its commit"),
    _a("A8", "before:StartTask:kill", "the generation is stored, its task is not"),
    _a("A9", "after:StartTask:kill", "the task is stored, its worker has not heard of it"),
    _a(
        "A10", "publish:in-transaction:kill", "rows, offsets and outcome are written, not committed"
    ),
    _a("A11", "publish:committed:kill", "committed with the status, and nobody was told"),
    _a("A12", "publish:answered:kill", "the loop was woken, the answer is lost"),
    _a("A13", "apply:in-transaction:kill", "inside a spec update", Verb.APPLY),
    _a("A13", "apply:committed:kill", "just after a spec update", Verb.APPLY),
    Point("A14", Role.OVERLORD, "term:begun:kill", "during recovery, again and again", in_a_row=10),
    _a("A15", "suspend:in-transaction:kill", "inside a suspend", Verb.SUSPEND),
    _a("A15", "suspend:committed:kill", "just after a suspend", Verb.SUSPEND),
    _a("A15", "terminate:in-transaction:kill", "inside a terminate", Verb.TERMINATE),
    _a("A15", "terminate:committed:kill", "just after a terminate", Verb.TERMINATE),
)
WORKER_POINTS = (
    _b("B1", "worker:started:kill", "before it registers"),
    _b("B2", "worker:before:ReadBatch:kill-in=200:3", "while a batch is read"),
    _b("B3", "worker:phase:PAUSED:kill", "paused, not reported"),
    _b("B3", "worker:phase:PAUSED:kill-in=400", "paused, reported"),
    _b("B4", "worker:after:RecordEnd:kill", "the end is in the journal"),
    _b("B5", "worker:after:ReadBatch:kill:2", "files of a batch on disk, not in the journal"),
    _b("B5", "worker:before:Merge:kill-in=100", "while segments are written"),
    _b("B6", "worker:before:Publish:kill", "segments are on disk, nobody was asked"),
    _b("B7", "worker:after:Publish:kill", "committed, and the task has not ended"),
    Point("B9", Role.WORKER, "worker:before:Publish:stop", "asks a minute late", frozen_s=60.0),
)
EVERY_WORKER = Point(
    "B8", Role.WORKER, "", "all replicas die while their range is published: killed from outside"
)
LEADER_STOPS = (
    Point("D2", Role.OVERLORD, "in:FixEnd:stop", "stopped past its lease, an end not committed"),
    Point(
        "D2",
        Role.OVERLORD,
        "publish:in-transaction:stop",
        "stopped past its lease, a publication not committed",
    ),
)
"""A leader that sleeps inside a transaction until another one leads, and goes on then."""
POINTS = (*OVERLORD_POINTS, *WORKER_POINTS, EVERY_WORKER, *LEADER_STOPS)
ROWS = frozenset({f"A{n}" for n in range(1, 16)} | {f"B{n}" for n in range(1, 10)} | {"D2"})
FROZEN_AT = frozenset({"B9", "D2"})
"""Rows whose process is stopped and goes on; at all others it dies."""
