"""The judgement on a publish request, from the facts alone: a table of every outcome."""

from dataclasses import dataclass, replace

import pytest

from supervisor.core.model.rows import CommittedOffset, GenerationState, TaskStatus
from supervisor.core.planning.publish import PublishFacts, judge
from tasks.contract.messages import Counters, PublishOutcome, PublishRequest
from tasks.contract.offsets import Offsets, TopicPartition
from tests.supervisor.core.snapshots import TOPIC, committed, generation, offsets, task

START, END = offsets(10, 20), offsets(15, 20)
RANGE = generation(1, START, END, state=GenerationState.PUBLISHING)
OWN = task(RANGE)
FACTS = PublishFacts(OWN, RANGE, winner=None, committed=committed(10, 20), predecessors=())


def request(start: Offsets = START, end: Offsets = END, topic_id: str = "id-1") -> PublishRequest:
    return PublishRequest(
        task_id=OWN.id,
        incarnation=1,
        start=dict(start),
        end=dict(end),
        topic_ids={TOPIC: topic_id},
        segments=(),
        counters=Counters(),
    )


AS_FIXED = request()


@dataclass(frozen=True)
class Case:
    """What is, what is asked, what is answered and why."""

    outcome: PublishOutcome
    facts: PublishFacts
    request: PublishRequest = AS_FIXED
    why: str = ""


def in_state(state: GenerationState) -> PublishFacts:
    return replace(FACTS, generation=replace(RANGE, state=state))


SUPERSEDED, STALE = PublishOutcome.SUPERSEDED, PublishOutcome.STALE
WAIT, FIRST = PublishOutcome.WAIT_FOR_PREDECESSOR, PublishOutcome.ALREADY_PUBLISHED
ENDED = replace(OWN, status=TaskStatus.FAILED, reason="worker w1 is lost")
CASES = {
    "fits": Case(PublishOutcome.COMMITTED, FACTS),
    "won-before": Case(
        PublishOutcome.COMMITTED, replace(FACTS, winner=OWN.id, committed=committed(15, 20))
    ),
    "a-sibling-won": Case(
        FIRST, replace(FACTS, winner="sibling", committed=committed(15, 20)), why="sibling"
    ),
    "a-sibling-won-and-the-range-is-closed": Case(
        FIRST,
        replace(in_state(GenerationState.PUBLISHED), winner="sibling", task=ENDED),
    ),
    "reading": Case(SUPERSEDED, in_state(GenerationState.READING), why="READING"),
    "pausing": Case(SUPERSEDED, in_state(GenerationState.PAUSING), why="PAUSING"),
    "empty": Case(SUPERSEDED, in_state(GenerationState.EMPTY), why="EMPTY"),
    "discarded": Case(SUPERSEDED, in_state(GenerationState.DISCARDED), why="DISCARDED"),
    "published-by-nobody": Case(SUPERSEDED, in_state(GenerationState.PUBLISHED), why="PUBLISHED"),
    "zombie": Case(SUPERSEDED, replace(FACTS, task=ENDED), why="worker w1 is lost"),
    "shorter": Case(SUPERSEDED, FACTS, request(end=offsets(14, 20))),
    "longer": Case(SUPERSEDED, FACTS, request(end=offsets(16, 20))),
    "later-start": Case(SUPERSEDED, FACTS, request(start=offsets(11, 20))),
    "earlier-start": Case(SUPERSEDED, FACTS, request(start=offsets(9, 20))),
    "one-partition-less": Case(SUPERSEDED, FACTS, request(offsets(10), offsets(15))),
    "another-topic": Case(SUPERSEDED, FACTS, request(topic_id="id-2"), why="id-2"),
    "no-committed-offset": Case(SUPERSEDED, replace(FACTS, committed=committed(10))),
    "ahead": Case(WAIT, replace(FACTS, committed=committed(9, 20))),
    "fits-but-an-earlier-range-is-live": Case(
        WAIT, replace(FACTS, predecessors={"clicks:0"}), why="clicks:0 is not yet published"
    ),
    "stale-whoever-is-live": Case(
        STALE, replace(FACTS, committed=committed(11, 20), predecessors={"clicks:0"})
    ),
    "one-partition-ahead": Case(WAIT, replace(FACTS, committed=committed(10, 19))),
    "behind": Case(STALE, replace(FACTS, committed=committed(11, 20)), why="11"),
    "inside": Case(STALE, replace(FACTS, committed=committed(12, 20))),
    "at-its-end": Case(STALE, replace(FACTS, committed=committed(15, 20))),
    "past-its-end": Case(STALE, replace(FACTS, committed=committed(16, 20))),
    "one-ahead-one-behind": Case(STALE, replace(FACTS, committed=committed(9, 21))),
    "one-behind-one-ahead": Case(STALE, replace(FACTS, committed=committed(11, 19))),
}


@pytest.mark.parametrize("name", CASES)
def test_each_outcome_has_its_facts(name: str) -> None:
    """Goal: a closed set of answers, each with one meaning (P22)."""
    case = CASES[name]

    answer = judge(case.facts, case.request)

    assert answer.outcome is case.outcome
    assert case.why in answer.reason
    assert answer.reason


@pytest.mark.parametrize("stored", list(PublishOutcome))
@pytest.mark.parametrize("name", CASES)
def test_a_stored_answer_is_repeated_whatever_has_happened_since(
    name: str, stored: PublishOutcome
) -> None:
    """Goal: a lost acknowledgement is looked up, not judged again."""
    facts = CASES[name].facts
    answered = replace(facts, task=replace(facts.task, outcome=stored))

    assert judge(answered, CASES[name].request).outcome is stored


def test_the_cases_cover_every_outcome() -> None:
    assert {case.outcome for case in CASES.values()} == set(PublishOutcome)


def test_the_id_of_each_topic_is_compared() -> None:
    """Goal: of a supervisor of several topics none is published that was deleted and made anew."""
    first, second = TopicPartition("a", 0), TopicPartition("b", 0)
    start, end = {first: 1, second: 1}, {first: 2, second: 2}
    both = generation(1, start, end, state=GenerationState.PUBLISHING)
    own = task(both)
    stored = {p: CommittedOffset(TOPIC, p, 1, 0, f"id-{p.topic}") for p in start}
    facts = PublishFacts(own, both, winner=None, committed=stored, predecessors=())

    def judged(**topic_ids: str) -> PublishOutcome:
        asked = request(start, end).model_copy(update={"topic_ids": topic_ids})
        return judge(facts, asked).outcome

    assert judged(a="id-a", b="id-b") is PublishOutcome.COMMITTED
    assert judged(a="id-a", b="another") is SUPERSEDED
    assert judged(a="another", b="id-b") is SUPERSEDED
    assert judged(a="id-a") is SUPERSEDED
