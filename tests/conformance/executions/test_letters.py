"""The leader's side of executions on topics: a row and a letter, in one commit."""

from collections.abc import Callable
from contextlib import closing
from datetime import timedelta

import pytest

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.outbox import SqlOutbox
from supervisor.adapters.manual_clock import ManualClock
from supervisor.core.attention.flows import TopicsStanding
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.inputs import AnswerStep, ExecutionInput, KillIt, PauseIt, ResumeIt
from supervisor.core.executions.plan import ApproveWork, FlowPlan, SetWork, Step
from supervisor.core.executions.reduced import Drop
from supervisor.core.executions.states import ExecutionState
from supervisor.core.values.errors import LeaseLost
from supervisor.executions.flow_watch import FlowWatch
from supervisor.executions.letter_engine import LetterEngine
from supervisor.executions.sequencer.letters import (
    LETTER_FORM,
    ExecutionGiven,
    ExecutionPurge,
    ExecutionStart,
    Letter,
)
from supervisor.ports.flows.execution_log import LogAway
from supervisor.ports.store_problems import ContentRefused
from tests.supervisor.core.crashes.scenarios.stored import Stored
from tests.supervisor.core.crashes.world.world import BEGAN, LANGUAGE

_ASKS = FlowPlan("asks", 1, (Step("ok", ApproveWork("go on?")),))
_DONE = FlowPlan("done", 1, (Step("v", SetWork({"n": 1})),))


def _letters_of(stored: Stored, term: Callable[[], int] = lambda: 1) -> LetterEngine:
    return LetterEngine(stored.store, term, LANGUAGE, lambda: stored.now, within_s=0)


def _outbox(url: str) -> list[tuple[str, Letter]]:
    with closing(ExecutionDatabase(url)) as database:
        stored = SqlOutbox(database).first(100)
    return [(each.entity, LETTER_FORM.read(each.body)) for each in stored]


def test_a_start_is_a_row_and_a_letter_and_its_repeat_is_neither(
    stored: Stored, executions_url: str
) -> None:
    engine, execution = _letters_of(stored), Execution("e1", _ASKS, {"n": 1}, BEGAN)

    first, second = engine.work(starts=[execution]), engine.work(starts=[execution])

    assert (len(first.started), len(second.started)) == (1, 0)
    assert stored.get("e1") == execution
    assert stored.get("e1").state is ExecutionState.CREATED
    assert _outbox(executions_url) == [("e1", ExecutionStart(execution))]


def test_a_letter_waits_since_the_moment_when_it_was_stored(
    stored: Stored, executions_url: str
) -> None:
    engine = _letters_of(stored)
    engine.work(starts=[Execution("e1", _ASKS, {}, BEGAN)])
    stored.now += timedelta(seconds=5)
    engine.work([("e1", PauseIt("ann"))])

    with closing(ExecutionDatabase(executions_url)) as database:
        outbox = SqlOutbox(database)
        first, second = outbox.first(9)
        with stored.store.reading() as rows:
            assert (rows.unsent_since("e1"), rows.unsent_since("e2")) == (BEGAN, None)
        outbox.drop_to(first.number)
        with stored.store.reading() as rows:
            assert rows.unsent_since("e1") == BEGAN + timedelta(seconds=5)
        outbox.drop_to(second.number)
        engine.work([("e1", PauseIt("ann"))])
        assert [each.number > second.number for each in outbox.first(9)] == []
        engine.work([("e1", ResumeIt("ann"))])
        assert [each.number > second.number for each in outbox.first(9)] == [True]


@pytest.mark.parametrize(
    "given", [PauseIt("ann"), ResumeIt("ann"), AnswerStep("no", yes=True, by="ann")]
)
@pytest.mark.parametrize("plan", [_ASKS, _DONE])
def test_an_input_is_dropped_for_the_reason_that_the_engine_of_the_database_has(
    stored: Stored, executions_url: str, plan: FlowPlan, given: ExecutionInput
) -> None:
    """Goal: the API answers 409 for the same requests, whichever engine runs flows."""
    stored.start(plan, "e1")
    before = stored.get("e1")

    judged = _letters_of(stored).work([("e1", given), ("none", given)])

    assert stored.get("e1") == before, "executors change it, and nobody else"
    taken = [letter for _, letter in _outbox(executions_url)]
    worked = stored.engine.work([("e1", given), ("none", given)])
    assert list(judged.dropped) == list(worked.dropped)
    assert taken == ([] if len(judged.dropped) == 2 else [ExecutionGiven(given)])


def test_what_has_not_begun_is_judged_as_if_it_had(stored: Stored, executions_url: str) -> None:
    engine = _letters_of(stored)
    start = Execution("e1", _ASKS, {}, BEGAN)

    worked = engine.work([("e1", PauseIt("ann")), ("e1", PauseIt("bob"))], [start])

    assert worked.dropped == [("e1", PauseIt("bob"), Drop.NOT_NOW)]
    given = [letter for _, letter in _outbox(executions_url)]
    assert given == [ExecutionStart(start), ExecutionGiven(PauseIt("ann"))]


def test_what_was_sent_counts_before_the_tables_show_it(
    stored: Stored, executions_url: str
) -> None:
    """Goal: who resumes right behind a pause is not refused with 409."""
    stored.start(_ASKS, "e1")
    engine, pause, resume = _letters_of(stored), PauseIt("ann"), ResumeIt("ann")
    for given in (pause, resume, pause):
        assert engine.work([("e1", given)]).dropped == []

    again = engine.work([("e1", pause)])

    assert again.dropped == [("e1", pause, Drop.NOT_NOW)]
    given_letters = [letter for _, letter in _outbox(executions_url)]
    assert given_letters == [ExecutionGiven(each) for each in (pause, resume, pause)]


def test_a_letter_that_another_input_came_before_still_counts(stored: Stored) -> None:
    """Goal: the tables have the version that the letter was to give, by another input."""
    stored.start(_ASKS, "e1")
    [run] = stored.get("e1").runs
    engine = _letters_of(stored)
    engine.work([("e1", PauseIt("ann"))])
    stored.engine.work([("e1", AnswerStep("none", yes=True, by="bob")), ("e1", PauseIt("bob"))])
    stored.engine.work([("e1", ResumeIt("bob"))])

    taken = engine.work([("e1", ResumeIt("ann"))])
    assert taken.dropped == []

    stored.now += timedelta(seconds=6)
    assert engine.work([("e1", ResumeIt("ann"))]).dropped == [
        ("e1", ResumeIt("ann"), Drop.NOT_NOW)
    ], "the tables had time to show it"
    stored.engine.work([("e1", AnswerStep(run, yes=True, by="bob"))])
    assert engine.work([("e1", PauseIt("ann"))]).dropped == [
        ("e1", PauseIt("ann"), Drop.NOT_LIVE)
    ], "what the tables know to have ended has ended"


def test_the_answer_waits_for_what_this_request_changes(stored: Stored) -> None:
    """Goal: who resumes reads what the resume has given, though the pause is shown meanwhile."""
    stored.start(_ASKS, "e1")
    engine = LetterEngine(stored.store, lambda: 1, LANGUAGE, lambda: stored.now, within_s=0)
    engine.work([("e1", PauseIt("ann"))])
    looks = iter((PauseIt("ann"), ResumeIt("ann")))

    def shows_one_more() -> bool:
        for given in looks:
            stored.send("e1", given)
            break
        return False

    engine.within_s, engine.is_away = 60, shows_one_more
    resumed = engine.work([("e1", ResumeIt("ann"))])

    assert resumed.dropped == []
    assert stored.get("e1").state is ExecutionState.RUNNING


def test_who_led_before_stores_no_letter(stored: Stored, executions_url: str) -> None:
    stored.restart()
    stored.start(_ASKS, "e1")

    with pytest.raises(LeaseLost):
        _letters_of(stored).work([("e1", KillIt("ann"))])

    assert _outbox(executions_url) == []


def test_what_is_too_large_for_a_letter_is_refused_and_nothing_is_stored(
    stored: Stored, executions_url: str
) -> None:
    large = Execution("e1", _ASKS, {"text": "x" * 2_000_000}, BEGAN)

    with pytest.raises(ContentRefused, match="e1: its record has 2,"):
        _letters_of(stored).work(starts=[Execution("e0", _ASKS, {}, BEGAN), large])

    with stored.store.reading() as rows:
        assert rows.versions(["e0", "e1"]) == {}
    assert _outbox(executions_url) == []


def test_a_purge_deletes_here_and_sends_a_letter(stored: Stored, executions_url: str) -> None:
    stored.start(_DONE, "e1")
    stored.start(_ASKS, "e2")

    gone = _letters_of(stored).purge(BEGAN + timedelta(days=1), 100)

    assert gone == 1
    assert _outbox(executions_url) == [("e1", ExecutionPurge())]
    with stored.store.reading() as rows:
        assert set(rows.versions(["e1", "e2"])) == {"e2"}


def test_the_answer_waits_until_the_tables_have_moved_on(stored: Stored) -> None:
    """Goal: who pauses an execution reads that it is paused."""
    stored.start(_ASKS, "e1")
    engine = LetterEngine(stored.store, lambda: 1, LANGUAGE, lambda: stored.now)
    engine.nudge = lambda: stored.send("e1", PauseIt("ann"))  # relay, executor and projector

    engine.work([("e1", PauseIt("ann"))])

    assert stored.get("e1").state is ExecutionState.PAUSED


def test_the_overview_hears_what_does_not_get_to_executors(
    stored: Stored, executions_url: str
) -> None:
    clock = ManualClock(BEGAN)
    watch = FlowWatch(stored.store, clock, relay_trouble=lambda: "no broker")
    _letters_of(stored).work(starts=[Execution("e1", _ASKS, {}, BEGAN)])
    clock.advance(timedelta(minutes=2))

    def seen() -> TopicsStanding | None:
        watch.run_once()
        last = watch.last()
        assert last is not None
        return last.topics

    assert seen() == TopicsStanding(BEGAN, "no broker")
    with stored.store.reading() as rows:
        assert rows.sums().letters == 1
    with closing(ExecutionDatabase(executions_url)) as database:
        SqlOutbox(database).drop_to(1)
    assert seen() == TopicsStanding(None, "no broker", BEGAN)
    stored.send("e1", KillIt("ann", force=True))
    assert seen() == TopicsStanding(None, "no broker")


def test_a_start_is_answered_once_it_is_stored(stored: Stored) -> None:
    """Goal: who starts many is not held up by executors: the row is there, and says CREATED."""
    engine = LetterEngine(stored.store, lambda: 1, LANGUAGE, lambda: stored.now, within_s=3_600)

    assert engine.work(starts=[Execution("e1", _ASKS, {}, BEGAN)]).started == {"e1"}
    assert stored.get("e1").state is ExecutionState.CREATED


def test_the_overview_hears_of_dead_inputs_unless_kafka_is_away(stored: Stored) -> None:
    waiting = [3]

    def count() -> int:
        if not waiting:
            raise LogAway("no broker answers")
        return waiting[0]

    def seen() -> int | None:
        watch.run_once()
        last = watch.last()
        return None if last is None or last.topics is None else last.topics.dead

    watch = FlowWatch(stored.store, ManualClock(BEGAN), relay_trouble=str, dead_inputs=count)
    assert seen() == 3
    waiting.clear()
    assert seen() == 0, "it is not known"


def test_nobody_waits_for_an_answer_while_kafka_is_away(stored: Stored) -> None:
    stored.start(_ASKS, "e1")
    engine = LetterEngine(stored.store, lambda: 1, LANGUAGE, lambda: stored.now, within_s=3_600)
    engine.is_away = lambda: True

    assert engine.work([("e1", PauseIt("ann"))]).dropped == []
