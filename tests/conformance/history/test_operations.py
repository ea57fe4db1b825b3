"""What was asked of supervisors, and the rows that tell whether it has come true."""

from dataclasses import replace

from supervisor.core.history.operations import Operation, OperationFacts, OperationKind
from supervisor.core.history.replays import ReplayOutcome, ReplayRequest
from supervisor.core.model.rows import GenerationState
from tests.conformance.stories import CLICKS, HOUR, MINUTE, NOON, P0, P1, Leader, opening
from tests.supervisor.core.snapshots import spec

WISH = Operation(CLICKS, OperationKind.SUSPEND, "ada", NOON, spec_version=2)


def add(leader: Leader, *wishes: Operation) -> list[Operation]:
    with leader.writes() as tx:
        return [tx.operations.add(wish) for wish in wishes]


def facts(leader: Leader, wish: Operation = WISH) -> OperationFacts:
    with leader.reads() as tx:
        return tx.operations.facts(wish)


def test_they_are_read_back_by_number_and_in_pages(leader: Leader) -> None:
    handoff = replace(WISH, kind=OperationKind.HANDOFF, spec_version=None, ranges=("g1", "g2"))
    other = replace(WISH, supervisor_id="other", disturbs=False)
    one, two, three = add(leader, WISH, handoff, other)
    assert one == replace(WISH, last_ordinal=0, number=one.number)
    with leader.reads() as tx:
        assert [tx.operations.get(each.number) for each in (one, two, three)] == [one, two, three]
        assert tx.operations.get(10_000) is None
        assert tx.operations.page(9) == [three, two, one]
        assert tx.operations.page(1, before=three.number) == [two]
        assert tx.operations.page(9, supervisor_id=CLICKS) == [two, one]


def test_the_newest_of_several_supervisors_are_read_at_once(leader: Leader) -> None:
    add(leader, *(replace(WISH, supervisor_id=who) for who in (CLICKS, "other", "elsewhere")))
    [newest] = add(leader, replace(WISH, kind=OperationKind.RESUME))
    with leader.reads() as tx:
        found = tx.operations.newest_of([CLICKS, "other", "silent"])
        assert found.keys() == {CLICKS, "other"}
        assert found[CLICKS] == newest
        assert tx.operations.newest_of([]) == {}


def test_those_of_one_supervisor_are_forgotten(leader: Leader) -> None:
    _, other = add(leader, WISH, replace(WISH, supervisor_id="other"))
    with leader.writes() as tx:
        tx.operations.forget(CLICKS)
    with leader.reads() as tx:
        assert tx.operations.page(9) == [other]


def test_the_facts_follow_the_ranges_and_the_versions(leader: Leader) -> None:
    with leader.writes() as tx:
        tx.generations.open(CLICKS, "table", opening("g1", 1, {P0: 0}), NOON)
        tx.generations.open("other", "table", opening("o1", 1, {P0: 0}), NOON)
    old = leader.generation("g1")
    assert facts(leader) == OperationFacts(older=(old,))

    with leader.writes() as tx:
        tx.generations.close("g1", GenerationState.DISCARDED, NOON + MINUTE)
        action = replace(opening("g2", 2, {P1: 0}), spec_version=3)
        tx.generations.open(CLICKS, "table", action, NOON + HOUR)
        for _ in range(3):
            tx.specs.append(CLICKS, spec(), NOON + HOUR, "ada")
    assert facts(leader) == OperationFacts(
        older_ended_at=NOON + MINUTE, opened_at=NOON + HOUR, next_version_at=NOON + HOUR
    )
    named = replace(WISH, spec_version=None, ranges=("g2", "gone"))
    assert facts(leader, named).named == (leader.generation("g2"),)


def test_what_is_given_up_behind_a_tombstone_is_a_fact_of_the_terminate(leader: Leader) -> None:
    """Source: P19; what a later spec of the same id gives up is not its own."""
    opened = (
        opening("g1", 1, {P0: 0}),
        opening("g2", 2, {P1: 3}),
        replace(opening("g3", 3, {P0: 0}), spec_version=3),
    )
    for action in opened:
        leader.opens(action)
        with leader.writes() as tx:  # by a leader whose clock is behind
            at = NOON - MINUTE
            tx.generations.close(action.generation_id, GenerationState.DISCARDED, at)
    terminate = replace(WISH, kind=OperationKind.TERMINATE, ranges=("g2",))

    assert facts(leader, terminate).discarded == (leader.generation("g2"),)
    assert facts(leader, replace(WISH, ranges=("g2",))).discarded == ()


def test_a_range_counts_as_opened_whatever_the_clock_of_who_opened_it(leader: Leader) -> None:
    """Goal: a leader that takes over with a clock behind does not leave the wish running."""
    leader.opens(replace(opening("g1", 1, {P0: 0}), spec_version=9))  # of the id's former life
    with leader.writes() as tx:
        tx.generations.close("g1", GenerationState.EMPTY, NOON)
    apply = replace(WISH, kind=OperationKind.APPLY, at=NOON + HOUR)
    [stored] = add(leader, apply)
    assert stored.last_ordinal == 1
    assert facts(leader, stored).opened_at is None

    with leader.writes() as tx:
        action = replace(opening("g2", 2, {P1: 0}), spec_version=2)
        tx.generations.open(CLICKS, "table", action, NOON + MINUTE)
    assert facts(leader, stored).opened_at == NOON + MINUTE
    assert facts(leader, apply).opened_at is None, "stored by an older version: times tell"


def test_what_ended_before_it_was_asked_for_is_no_fact(leader: Leader) -> None:
    leader.opens(opening("g1", 1, {P0: 0}))
    with leader.writes() as tx:
        tx.generations.close("g1", GenerationState.EMPTY, NOON)
    late = replace(WISH, at=NOON + HOUR)
    assert facts(leader, late) == OperationFacts()


def test_a_replay_keeps_its_request_and_its_first_outcome(leader: Leader) -> None:
    """Goal: a handler that runs twice, or late, does not change what was told."""
    request = ReplayRequest("clicks-again", "m1", "not-json", 3, 7, keep_time=True)
    [stored] = add(
        leader, replace(WISH, kind=OperationKind.REPLAY, spec_version=None, replay=request)
    )
    assert (stored.replay, stored.outcome, stored.finished_at) == (request, None, None)
    first = ReplayOutcome(5, 2, more=True, ends={1: 2**40, 0: 7})
    for outcome, at in ((first, NOON + MINUTE), (ReplayOutcome(problem="late"), NOON + HOUR)):
        with leader.writes() as tx:
            tx.operations.finish(stored.number, outcome, at)

    with leader.reads() as tx:
        found = tx.operations.get(stored.number)
    assert found == replace(stored, outcome=first, finished_at=NOON + MINUTE)
