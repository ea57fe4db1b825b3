"""The states of an execution, of a task run and of an attempt, and the moves between them.

    execution   CREATED ─► QUEUED ─► RUNNING ⇄ PAUSED ─► SUCCESS, FAILED or KILLED
                   └──────────────────┴── KILLING ────────────────────────► KILLED

    task run    CREATED ─► SUBMITTED ─► RUNNING ⇄ WAITING ─► SUCCESS or FAILED
                              ▲            │
                              └─ RETRYING ◄┘      SKIPPED instead of CREATED; KILLING, then KILLED

A rank orders the states of a task run: a report of a lower rank comes late, and changes nothing.
"""

from enum import StrEnum


class IllegalMove(Exception):
    """A fault of the reducer: it wanted a move that the table does not have."""


class ExecutionState(StrEnum):
    """CREATED: nothing has begun.  QUEUED: its flow runs as often as it may.

    KILLING: it ends as soon as what runs has ended.
    """

    CREATED = "CREATED"
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    KILLING = "KILLING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    KILLED = "KILLED"

    @property
    def ended(self) -> bool:
        """Whether no input changes the execution any more."""
        return self in _ENDS


class StepState(StrEnum):
    """SUBMITTED: a call waits for a runner.  WAITING: for a condition, a time, a person, a child.

    RETRYING: its next attempt has a time.  SKIPPED: its condition did not hold, or somebody said
    so; what comes after it goes on.
    """

    CREATED = "CREATED"
    SUBMITTED = "SUBMITTED"
    RUNNING = "RUNNING"
    WAITING = "WAITING"
    RETRYING = "RETRYING"
    KILLING = "KILLING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    KILLED = "KILLED"
    SKIPPED = "SKIPPED"

    @property
    def ended(self) -> bool:
        """Whether the state is final."""
        return not _MOVES[self]

    @property
    def rank(self) -> int:
        """The higher rank wins where two reports of one attempt cross."""
        return _RANKS[self]


class AttemptState(StrEnum):
    """LOST: its runner is gone, and nobody knows how far it came."""

    SUBMITTED = "SUBMITTED"
    RUNNING = "RUNNING"
    WAITING = "WAITING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    KILLED = "KILLED"
    LOST = "LOST"

    @property
    def ended(self) -> bool:
        """Whether the attempt is over."""
        return self in {
            AttemptState.SUCCESS,
            AttemptState.FAILED,
            AttemptState.KILLED,
            AttemptState.LOST,
        }


_E, _R = ExecutionState, StepState
_ENDS = frozenset({_E.SUCCESS, _E.FAILED, _E.KILLED})
_LIVE = frozenset({_E.FAILED, _E.KILLING, _E.KILLED})

_EXECUTION_MOVES = {
    _E.CREATED: frozenset({_E.QUEUED, _E.RUNNING}) | _LIVE,
    _E.QUEUED: frozenset({_E.RUNNING}) | _LIVE,
    _E.RUNNING: frozenset({_E.PAUSED, _E.SUCCESS}) | _LIVE,
    _E.PAUSED: frozenset({_E.RUNNING, _E.SUCCESS}) | _LIVE,
    _E.KILLING: frozenset({_E.KILLED}),
    _E.SUCCESS: frozenset(),
    _E.FAILED: frozenset(),
    _E.KILLED: frozenset(),
}
_AFTER_WORK = frozenset({_R.SUCCESS, _R.FAILED, _R.RETRYING, _R.KILLING, _R.KILLED, _R.WAITING})
_MOVES = {
    _R.CREATED: frozenset({_R.SUBMITTED, _R.RUNNING, _R.SKIPPED}) | _AFTER_WORK,
    _R.SUBMITTED: frozenset({_R.RUNNING}) | _AFTER_WORK,
    _R.RUNNING: _AFTER_WORK,
    _R.WAITING: frozenset({_R.SUBMITTED, _R.SKIPPED}) | _AFTER_WORK,
    _R.RETRYING: frozenset({_R.SUBMITTED, _R.WAITING, _R.SKIPPED, _R.KILLED, _R.FAILED}),
    _R.KILLING: frozenset({_R.KILLED, _R.SUCCESS, _R.FAILED}),
    _R.SUCCESS: frozenset(),
    _R.FAILED: frozenset(),
    _R.KILLED: frozenset(),
    _R.SKIPPED: frozenset(),
}
_RANKS = {
    _R.CREATED: 0,
    _R.SUBMITTED: 1,
    _R.RUNNING: 2,
    _R.WAITING: 3,
    _R.RETRYING: 4,
    _R.KILLING: 4,
    _R.SUCCESS: 5,
    _R.FAILED: 5,
    _R.KILLED: 5,
    _R.SKIPPED: 5,
}


def check_run_move(old: StepState, new: StepState) -> None:
    """Refuse a move that the table does not have.

    Raises:
        IllegalMove: a fault of the reducer; the batch of inputs is taken back.
    """
    if old is not new and new not in _MOVES[old]:
        raise IllegalMove(f"a task run cannot go from {old} to {new}")


def check_execution_move(old: ExecutionState, new: ExecutionState) -> None:
    """Refuse a move that the table does not have.

    Raises:
        IllegalMove: a fault of the reducer; the batch of inputs is taken back.
    """
    if old is not new and new not in _EXECUTION_MOVES[old]:
        raise IllegalMove(f"an execution cannot go from {old} to {new}")
