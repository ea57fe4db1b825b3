"""Which operations run, as a pass over their supervisor saw it."""

from dataclasses import replace

import pytest

from supervisor.core.history.operations import Operation, OperationKind
from supervisor.core.history.running_operations import runs_still
from supervisor.core.model.rows import GenerationState
from supervisor.core.planning.actions import Plan
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.passes import Pass
from tests.supervisor.core.snapshots import (
    END,
    EVEN,
    MINUTE,
    NOON,
    TOPIC,
    generation,
    observed,
    spec,
)

OLD = generation(1, EVEN)
NEW = replace(generation(2, END), spec_version=2, opened_at=NOON + 2 * MINUTE)
RESETS = (
    OperationKind.RESET,
    OperationKind.RESET_OFFSETS,
    OperationKind.RESET_TO_LATEST_AND_BACKFILL,
)


def requested(kind: OperationKind, version: int | None = 2, *ranges: str) -> Operation:
    at = NOON + MINUTE
    return Operation(TOPIC, kind, "ada", at, version, tuple(ranges), last_ordinal=1, number=7)


def runs(operation: Operation, seen: Observed, *, over: bool = False) -> bool:
    return runs_still(operation, Pass(seen, Plan((), seen.now, over=over)))


@pytest.mark.parametrize("kind", [OperationKind.SUSPEND, OperationKind.TERMINATE])
def test_a_rest_runs_while_a_range_of_an_older_version_lives(kind: OperationKind) -> None:
    still = observed(spec(suspended=True), version=2, generations=(OLD,))

    assert runs(requested(kind), still)
    assert not runs(requested(kind), replace(still, generations=(), newest=OLD))


def test_a_change_runs_until_the_ranges_that_it_ends_are_over_and_the_next_is_open() -> None:
    change = requested(OperationKind.APPLY, 2, OLD.id)

    assert runs(change, observed(version=2, generations=(OLD,)))
    assert runs(change, observed(version=2, newest=OLD)), "nothing is open yet"
    assert not runs(change, observed(version=2, generations=(NEW,)))
    assert not runs(change, observed(spec(suspended=True), version=2, newest=OLD))
    assert not runs(change, observed(version=2, newest=OLD), over=True), "all is read"
    assert not runs(replace(change, disturbs=False), observed(version=2, generations=(OLD,)))


def test_a_newer_version_supersedes() -> None:
    seen = observed(version=3, generations=(OLD,))

    assert not runs(requested(OperationKind.APPLY, 2, OLD.id), seen)
    assert runs(requested(OperationKind.APPLY, 3, OLD.id), seen)


def test_a_handoff_runs_while_its_range_lives() -> None:
    asking = requested(OperationKind.HANDOFF, None, OLD.id)
    pausing = replace(OLD, state=GenerationState.PAUSING, handoff_request="asked")

    assert runs(asking, observed(generations=(pausing,)))
    assert not runs(asking, observed(generations=(NEW,)))
    assert not runs(asking, observed(generations=(OLD,))), "it had nothing to publish"


@pytest.mark.parametrize("kind", [*RESETS, OperationKind.UNKNOWN])
def test_a_reset_is_done_and_an_unknown_kind_not_counted(kind: OperationKind) -> None:
    assert not runs(requested(kind), observed(version=2, generations=(OLD,)))
