"""Whether what was asked for has come true, judged from rows."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.history.operations import (
    NOT_SEEN_YET,
    Operation,
    OperationFacts,
    OperationKind,
    OperationState,
    Progress,
    judge_operation,
    number_of,
    progress_in_pass,
)
from supervisor.core.history.replays import ReplayOutcome
from supervisor.core.model.rows import Generation, GenerationState
from supervisor.core.planning.observed import Observed
from supervisor.core.values.errors import OperationNotFound
from tests.supervisor.core.snapshots import NOON, TOPIC, observed, spec

DONE, RUNNING, SUPERSEDED = (OperationState[s] for s in ("DONE", "RUNNING", "SUPERSEDED"))
LATER = NOON + timedelta(minutes=1)
LAST = NOON + timedelta(minutes=2)


def operation(kind: OperationKind, *, disturbs: bool = True) -> Operation:
    return Operation(TOPIC, kind, "ada", NOON, spec_version=2, disturbs=disturbs, number=7)


def a_range(state: GenerationState = GenerationState.READING) -> Generation:
    ended = None if state in {GenerationState.READING, GenerationState.PUBLISHING} else LATER
    return Generation(
        "g1",
        TOPIC,
        "table",
        1,
        layout_version=1,
        task_count=1,
        partition_count=1,
        group=3,
        spec_version=1,
        state=state,
        start={},
        end=None,
        opened_at=NOON,
        timer_started_at=NOON,
        ended_at=ended,
    )


@pytest.mark.parametrize("kind", [OperationKind.SUSPEND, OperationKind.TERMINATE])
def test_it_rests_once_no_range_of_an_older_version_is_live(kind: OperationKind) -> None:
    live = OperationFacts(older=[a_range()])
    waits = judge_operation(operation(kind), live)
    assert (waits.state, waits.finished_at) == (RUNNING, None)
    assert "group 3 reads" in waits.waits_for

    ended = OperationFacts(older_ended_at=LATER)
    assert judge_operation(operation(kind), ended).finished_at == LATER
    assert judge_operation(operation(kind), OperationFacts()).finished_at == NOON


@pytest.mark.parametrize(
    "kind", [OperationKind.APPLY, OperationKind.RESUME, OperationKind.ROLLBACK]
)
def test_it_runs_once_a_range_of_its_version_is_open_and_those_that_end_for_it_are_over(
    kind: OperationKind,
) -> None:
    assert judge_operation(operation(kind), OperationFacts()).state is RUNNING
    assert judge_operation(operation(kind), OperationFacts(rests=True)).state is DONE
    both = OperationFacts(named=[a_range()], opened_at=LATER)
    waits = judge_operation(operation(kind), both)
    assert (waits.state, waits.waits_for[:13]) == (RUNNING, "group 3 reads")
    ended = [a_range(GenerationState.PUBLISHED)]
    now = judge_operation(operation(kind), OperationFacts(named=ended, opened_at=LAST))
    assert (now.state, now.finished_at) == (DONE, LAST)
    assert judge_operation(operation(kind), OperationFacts(named=ended)).state is RUNNING
    rests = judge_operation(operation(kind), OperationFacts(named=ended, rests=True))
    assert rests.finished_at == LATER


@pytest.mark.parametrize(
    "kind", [OperationKind.APPLY, OperationKind.RESUME, OperationKind.ROLLBACK]
)
def test_it_does_not_wait_for_ranges_that_are_read_on(kind: OperationKind) -> None:
    """Goal: no wait until the next taskDuration for what ends for nothing."""
    reads_on = OperationFacts(older=[a_range()], opened_at=LATER)
    now = judge_operation(operation(kind), reads_on)
    assert (now.state, now.finished_at) == (DONE, LATER)


def test_a_change_that_disturbs_nothing_is_done_at_once() -> None:
    hot = operation(OperationKind.APPLY, disturbs=False)
    assert judge_operation(hot, OperationFacts(older=[a_range()])).finished_at == NOON


def test_what_was_not_so_before_the_next_version_came_is_superseded() -> None:
    suspend = operation(OperationKind.SUSPEND)
    late = OperationFacts(older_ended_at=LAST, next_version_at=LATER)
    assert judge_operation(suspend, late).state is SUPERSEDED
    never = OperationFacts(older=[a_range()], next_version_at=LATER)
    assert judge_operation(suspend, never).state is SUPERSEDED
    in_time = OperationFacts(older_ended_at=LATER, next_version_at=LAST)
    assert judge_operation(suspend, in_time).state is DONE


def test_a_handoff_is_done_when_its_ranges_have_ended_or_read_nothing() -> None:
    handoff = replace(operation(OperationKind.HANDOFF), ranges=("g1",), spec_version=None)
    wanted = replace(a_range(), handoff_request="ann wants it")
    reads = judge_operation(handoff, OperationFacts(named=[wanted]))
    assert reads.state is RUNNING
    publishes = a_range(GenerationState.PUBLISHING)
    assert "publishes" in judge_operation(handoff, OperationFacts(named=[publishes])).waits_for
    published = a_range(GenerationState.PUBLISHED)
    assert judge_operation(handoff, OperationFacts(named=[published])).finished_at == LATER
    empty = replace(wanted, timer_started_at=LAST)
    assert judge_operation(handoff, OperationFacts(named=[empty])).finished_at == LAST
    assert judge_operation(handoff, OperationFacts()).state is DONE


def test_a_handoff_is_done_though_an_overlord_behind_has_resumed_its_empty_range() -> None:
    """Goal: who waits for it does not wait until the range ends some day.  Source: H1."""
    handoff = replace(operation(OperationKind.HANDOFF), ranges=("g1",), spec_version=None)
    empty = replace(a_range(), timer_started_at=NOON - timedelta(hours=1))
    found = judge_operation(handoff, OperationFacts(named=[empty]))
    assert (found.state, found.finished_at) == (DONE, NOON)


_TIMES = st.sampled_from([NOON, LATER])
_FACTS = st.builds(
    OperationFacts,
    named=st.sampled_from([(), (a_range(),), (a_range(GenerationState.PUBLISHED),)]),
    older=st.sampled_from([(), (a_range(),)]),
    older_ended_at=st.none() | _TIMES,
    opened_at=st.none() | _TIMES,
    next_version_at=st.none() | _TIMES,
    rests=st.booleans(),
)


@given(st.sampled_from(OperationKind), _FACTS)
def test_what_is_over_stays_so_whatever_version_comes_later(
    kind: OperationKind, facts: OperationFacts
) -> None:
    """Goal: who waits for an operation never sees it come back."""
    now = judge_operation(operation(kind), facts)
    later = replace(facts, next_version_at=facts.next_version_at or LAST)
    if now.state is not RUNNING:
        assert judge_operation(operation(kind), later) == now
    assert (now.finished_at is None) == (now.state is RUNNING)
    assert bool(now.waits_for) == (now.state is RUNNING)


_NO_IDS = ["", "op_", "7", "op_x", "op_-1", "op_" + "9" * 30, "op_\N{SUPERSCRIPT TWO}"]


@pytest.mark.parametrize("text", _NO_IDS)
def test_an_id_that_is_none_is_not_found(text: str) -> None:
    with pytest.raises(OperationNotFound):
        number_of(text)
    assert number_of("op_12") == 12


# -- as a pass saw it ------------------------------------------------------------------------------


def wanted(kind: OperationKind, **members: object) -> Operation:
    """The operation that stored version 2; one range is on record before it."""
    whole = {"spec_version": 2, "last_ordinal": 1} | members
    return replace(Operation(TOPIC, kind, "ada", NOON - timedelta(minutes=5)), **whole)  # type: ignore[arg-type]


def a_pass(
    *ranges: Generation, version: int = 2, at: datetime = NOON, suspended: bool = False
) -> Observed:
    """A pass over a supervisor of that version; the last range is the newest."""
    found = replace(observed(), now=at, generations=live(*ranges), newest=(ranges or (None,))[-1])
    current = replace(found.current, version=version, spec=spec(suspended=suspended))
    return replace(found, current=current)


def live(*ranges: Generation) -> tuple[Generation, ...]:
    return tuple(each for each in ranges if each.ended_at is None)


def numbered(ordinal: int, version: int, ended: datetime | None = None) -> Generation:
    return replace(
        a_range(), id=f"g{ordinal}", ordinal=ordinal, spec_version=version, ended_at=ended
    )


@pytest.mark.parametrize("kind", [OperationKind.SUSPEND, OperationKind.TERMINATE])
def test_a_pass_sees_whether_ranges_of_the_older_version_still_end(kind: OperationKind) -> None:
    waits = progress_in_pass(wanted(kind), a_pass(numbered(1, 1), suspended=True))
    assert waits.state is RUNNING
    assert "g1" in waits.waits_for
    over = a_pass(numbered(1, 1, ended=LATER), suspended=True)
    assert progress_in_pass(wanted(kind), over).state is DONE


def test_a_pass_sees_whether_the_new_version_reads() -> None:
    apply = wanted(OperationKind.APPLY, ranges=("g1",))
    both = a_pass(numbered(1, 1), numbered(2, 2))
    assert progress_in_pass(apply, both).state is RUNNING, "the old range still publishes"
    assert progress_in_pass(apply, a_pass(numbered(2, 2))).state is DONE
    none_yet = a_pass(numbered(1, 1, ended=NOON))
    assert progress_in_pass(apply, none_yet).state is RUNNING, "its first range is still to come"
    asleep = a_pass(numbered(1, 1, ended=NOON), suspended=True)
    assert progress_in_pass(apply, asleep).state is DONE, "it wants no range"


def test_an_operation_of_long_ago_does_not_run_because_nothing_reads_now() -> None:
    """Goal: without a live range the newest one says that the version has been read with."""
    apply = wanted(OperationKind.APPLY)
    assert progress_in_pass(apply, a_pass(numbered(7, 2, ended=NOON))).state is DONE


def test_a_pass_from_before_the_operation_has_not_seen_it() -> None:
    late = replace(wanted(OperationKind.HANDOFF, ranges=("g1",)), spec_version=None, at=LATER)
    assert progress_in_pass(late, a_pass(numbered(1, 1))).waits_for == NOT_SEEN_YET
    older_spec = a_pass(numbered(1, 1), version=1)
    assert progress_in_pass(wanted(OperationKind.RESUME), older_spec).waits_for == NOT_SEEN_YET
    at_once = wanted(OperationKind.APPLY, disturbs=False)
    assert progress_in_pass(at_once, older_spec).state is DONE
    reset = replace(wanted(OperationKind.RESET), at=LATER)
    assert progress_in_pass(reset, a_pass()).state is DONE


def test_a_newer_version_supersedes_it() -> None:
    newer = a_pass(numbered(1, 1), version=3)
    assert progress_in_pass(wanted(OperationKind.APPLY, ranges=("g1",)), newer).state is SUPERSEDED


def test_a_replay_runs_until_its_outcome_is_stored() -> None:
    asked = operation(OperationKind.REPLAY)
    tried = judge_operation(asked, OperationFacts(trouble="no answer of Kafka"))
    assert judge_operation(asked, OperationFacts()).waits_for == (
        "the leader, which sends its records"
    )
    assert tried.state is RUNNING
    assert tried.waits_for.endswith(": no answer of Kafka")
    for problem, state in (("", DONE), ("there is no topic", OperationState.FAILED)):
        over = replace(asked, outcome=ReplayOutcome(problem=problem), finished_at=LATER)
        assert judge_operation(over, OperationFacts()) == Progress(state, finished_at=LATER)
