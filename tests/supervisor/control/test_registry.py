"""Soft state of the workers: what is heard, what is news, who is lost."""

from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.adapters.manual_clock import ManualClock
from supervisor.control.worker_registry import ALIVE_WITHIN_S, WorkerRegistry
from supervisor.core.model.rows import WorkerRow
from supervisor.core.planning.observed import Liveness
from supervisor.core.planning.wake_condition import WakeCondition
from tasks.contract.messages import (
    CompactionReport,
    Counters,
    FailureCode,
    SyncRequest,
    TaskPhase,
    TaskReport,
)
from tests.supervisor.core.snapshots import NOON, offsets

TIMEOUT = timedelta(seconds=60)
SECOND = timedelta(seconds=1)
ALIVE_WITHIN = timedelta(seconds=ALIVE_WITHIN_S)
ROW = WorkerRow("w1", 1, "http://w1:8091", 4, NOON)
READS = TaskReport(
    task_id="t1",
    phase=TaskPhase.READING,
    order_term=1,
    order_sequence=0,
    position=offsets(1, 1),
)


class Term:
    """A leader's registry, with the time at which its term began."""

    def __init__(self) -> None:
        self.clock = ManualClock(NOON)
        self.led_since = self.clock.monotonic()
        self.registry = WorkerRegistry(
            self.clock, worker_timeout=TIMEOUT, led_since=lambda: self.led_since
        )

    def begins(self, *rows: WorkerRow) -> None:
        """Lead again, from the rows."""
        self.led_since = self.clock.monotonic()
        self.registry.reset(list(rows))

    def liveness(self) -> Liveness:
        [view] = self.registry.views()
        return view.liveness

    def hears(self, sequence: int, *reports: TaskReport, incarnation: int = 1) -> set[str]:
        return self.registry.record(
            SyncRequest(
                worker_id="w1",
                incarnation=incarnation,
                sequence=sequence,
                url=ROW.url,
                slots=4,
                tasks=reports,
            )
        )

    def reports(self) -> dict[str, TaskReport]:
        [view] = self.registry.views()
        return dict(view.reports)


@pytest.fixture
def term() -> Term:
    """A term in which one worker has registered."""
    term = Term()
    term.registry.registered(ROW)
    return term


def test_a_worker_is_alive_while_it_is_heard_of(term: Term) -> None:
    term.hears(1)

    assert term.liveness() is Liveness.ALIVE
    term.clock.advance(ALIVE_WITHIN)
    assert term.liveness() is Liveness.ALIVE
    term.clock.advance(SECOND / 100)
    assert term.liveness() is Liveness.UNKNOWN


def test_a_silent_worker_is_unknown_until_the_timeout_and_lost_from_then_on(term: Term) -> None:
    """Goal: only a whole timeout of silence costs a worker its tasks (P6)."""
    term.clock.advance(10 * SECOND)
    term.hears(1)

    term.clock.advance(TIMEOUT - SECOND / 100)
    assert term.liveness() is Liveness.UNKNOWN
    term.clock.advance(SECOND / 100)
    assert term.liveness() is Liveness.LOST


def test_when_a_worker_was_heard_of_last_is_known_by_the_wall_clock(term: Term) -> None:
    """Goal: people are told since when it is silent, the same whenever they ask."""
    assert [view.heard_at for view in term.registry.views()] == [None]
    heard = term.clock.advance(10 * SECOND)
    term.hears(1)
    term.clock.advance(TIMEOUT)

    assert [view.heard_at for view in term.registry.views()] == [heard]
    term.begins(ROW)
    assert [view.heard_at for view in term.registry.views()] == [None], "not in this term"


def test_a_new_term_gives_every_worker_the_whole_timeout(term: Term) -> None:
    """Goal: what a leader did not hear because it did not lead counts against nobody (P6)."""
    term.hears(1)
    term.clock.advance(10 * TIMEOUT)
    assert term.liveness() is Liveness.LOST

    term.begins(ROW)

    assert term.liveness() is Liveness.UNKNOWN
    term.clock.advance(TIMEOUT - SECOND / 100)
    assert term.liveness() is Liveness.UNKNOWN
    term.clock.advance(SECOND / 100)
    assert term.liveness() is Liveness.LOST


def test_a_lease_that_began_after_the_last_sync_counts(term: Term) -> None:
    """Goal: the later of last sync and start of the term, without a reset in between too."""
    term.hears(1)
    term.clock.advance(TIMEOUT / 2)
    term.led_since = term.clock.monotonic()
    term.clock.advance(TIMEOUT * 3 / 4)

    assert term.liveness() is Liveness.UNKNOWN


def test_a_lost_worker_that_speaks_is_alive(term: Term) -> None:
    term.clock.advance(2 * TIMEOUT)
    assert term.liveness() is Liveness.LOST

    term.hears(1, READS)

    assert term.liveness() is Liveness.ALIVE
    assert term.reports() == {"t1": READS}


def test_a_silent_worker_keeps_its_last_reports(term: Term) -> None:
    term.hears(1, READS)
    term.clock.advance(2 * TIMEOUT)

    assert term.reports() == {"t1": READS}


def test_a_request_that_was_overtaken_is_a_sign_of_life_and_no_news(term: Term) -> None:
    """Goal: a request that was held up on its way does not turn the clock back."""
    paused = READS.model_copy(update={"phase": TaskPhase.PAUSED})
    assert term.hears(7, paused) == {"t1"}
    term.clock.advance(10 * SECOND)

    assert term.hears(6, READS) == set()
    assert term.hears(7, READS) == set()

    assert term.reports() == {"t1": paused}
    assert term.liveness() is Liveness.ALIVE


@pytest.mark.parametrize(
    "change",
    [
        {"phase": TaskPhase.PAUSED},
        {"order_sequence": 1},
        {"order_term": 2},
        {"failure": FailureCode.READ_FAILED},
    ],
    ids=str,
)
def test_what_may_change_a_plan_is_news(term: Term, change: dict[str, int | str]) -> None:
    term.hears(1, READS)

    assert term.hears(2, READS.model_copy(update=change)) == {"t1"}
    assert term.hears(3, READS.model_copy(update=change)) == set()


def test_progress_alone_is_no_news_and_is_kept(term: Term) -> None:
    """Goal: reading wakes nobody, once a second for each task."""
    further = READS.model_copy(
        update={"position": offsets(9, 9), "counters": Counters(processed=16)}
    )
    term.hears(1, READS)

    assert term.hears(2, further) == set()
    assert term.reports() == {"t1": further}


def test_a_task_that_comes_or_goes_is_news(term: Term) -> None:
    assert term.hears(1, READS) == {"t1"}
    assert term.hears(2) == {"t1"}
    assert term.hears(3) == set()
    assert term.reports() == {}


def test_a_new_incarnation_starts_without_reports_and_unknown(term: Term) -> None:
    """Goal: what an earlier process said is not taken for the word of this one (P7)."""
    term.hears(9, READS)

    term.registry.registered(replace(ROW, incarnation=2, slots=8))

    [view] = term.registry.views()
    assert (view.incarnation, view.slots, view.reports) == (2, 8, {})
    assert view.liveness is Liveness.UNKNOWN
    assert term.hears(1, READS, incarnation=2) == {"t1"}  # its sequence begins anew


def test_an_earlier_incarnation_is_not_listened_to(term: Term) -> None:
    """Goal: not even as a sign of life."""
    term.registry.registered(replace(ROW, incarnation=2))

    assert term.hears(99, READS, incarnation=1) == set()

    assert term.reports() == {}
    assert term.liveness() is Liveness.UNKNOWN


def test_the_same_incarnation_that_registers_again_keeps_its_reports(term: Term) -> None:
    term.hears(1, READS)

    term.registry.registered(replace(ROW, url="http://moved:8091"))

    assert term.reports() == {"t1": READS}


def test_an_earlier_incarnation_that_registers_late_changes_nothing(term: Term) -> None:
    """Goal: of two registrations that are noted in the wrong order the newer one stands."""
    term.registry.registered(replace(ROW, incarnation=2))

    term.registry.registered(ROW)

    assert term.registry.known_incarnation("w1") == 2


def test_a_reset_forgets_what_was_said_and_who_never_registered_here(term: Term) -> None:
    term.hears(5, READS)

    term.begins(replace(ROW, id="w2"))

    assert [view.id for view in term.registry.views()] == ["w2"]
    assert term.registry.known_incarnation("w1") is None


def test_after_a_reset_every_word_is_news(term: Term) -> None:
    """Goal: one round of syncs refills everything (P4)."""
    term.hears(5, READS)
    term.begins(ROW)

    assert term.reports() == {}
    assert term.hears(5, READS) == {"t1"}


def test_a_worker_that_a_new_term_forgot_has_no_news_and_is_asked_to_register(term: Term) -> None:
    """Goal: a sync that meets the start of a term half way is repeated, not an error."""
    term.begins()

    assert term.hears(5, READS) == set()
    assert term.registry.known_incarnation("w1") is None


def test_so_many_rows_are_news_while_somebody_wants_to_know() -> None:
    """Goal: a range that is full wakes the loop; counters alone never do (P4)."""
    term = Term()
    term.registry.registered(ROW)
    assert term.hears(1, rows(10)) == {"t1"}, "the first report always is"
    assert term.hears(2, rows(99)) == set()

    term.registry.watch("clicks", {"t1": WakeCondition(100, 50)})
    assert term.hears(3, rows(99)) == set()
    assert term.hears(4, rows(100)) == {"t1"}
    assert term.hears(5, rows(100)) == {"t1"}, "level, not edge: the wake-up may have been lost"

    term.registry.watch("other", {"t2": WakeCondition(1, 50)})
    assert term.hears(6, rows(100)) == {"t1"}, "each supervisor has its own wish"
    term.registry.watch("clicks", {})
    assert term.hears(7, rows(101)) == set()


def test_so_many_rows_of_one_time_chunk_are_news() -> None:
    term = Term()
    term.registry.registered(ROW)
    term.registry.watch("clicks", {"t1": WakeCondition(100, 50)})
    term.hears(1, rows(10))
    below, full = (rows(99).model_copy(update={"fullest_chunk_rows": n}) for n in (49, 50))

    assert (term.hears(2, below), term.hears(3, full)) == (set(), {"t1"})


def test_a_new_term_wants_to_know_nothing_yet() -> None:
    term = Term()
    term.registry.watch("clicks", {"t1": WakeCondition(1, 50)})
    term.begins(ROW)

    assert term.hears(1, rows(10)) == {"t1"}
    assert term.hears(2, rows(10)) == set()


def rows(number: int) -> TaskReport:
    """A report of so many rows, one of them with a field that did not fit."""
    counted = Counters(processed=number - 1, processed_with_error=1)
    return READS.model_copy(update={"counters": counted})


def test_the_compactions_that_a_worker_reports_are_remembered_until_it_reports_others(
    term: Term,
) -> None:
    """Goal: that one is not listed any more is the word that nothing writes its file."""
    running = CompactionReport(compaction_id="c1")
    failed = CompactionReport(compaction_id="c2", failure=FailureCode.READ_FAILED, detail="no")
    remembered = []
    for sequence, reports in ((1, (running, failed)), (3, (failed,)), (2, (running,))):
        request = SyncRequest(
            worker_id="w1",
            incarnation=1,
            sequence=sequence,
            url=ROW.url,
            slots=4,
            compactions=reports,
        )
        term.registry.record(request)
        [view] = term.registry.views()
        remembered.append(dict(view.compactions))
    term.registry.registered(replace(ROW, incarnation=2))
    [anew] = term.registry.views()

    assert remembered == [{"c1": running, "c2": failed}, {"c2": failed}, {"c2": failed}]
    assert anew.compactions == {}


def test_a_worker_has_not_heard_of_what_it_was_given_and_never_listed_in_this_term(
    term: Term,
) -> None:
    """Case: a leader that has not begun its term, or that keeps a task, lists nothing of it."""
    registry = term.registry
    term.begins(ROW)
    assert registry.unheard("w1", 1) == set()

    registry.starts("a", "w1", 1)
    registry.starts("b", "w1", 1)
    registry.listed("w1", ["b", "c"])
    registry.listed("w1", [])  # an answer from before both, which another one has overtaken
    assert registry.unheard("w1", 1) == {"a"}
    assert registry.unheard("w2", 1) == set()
    term.begins(ROW)
    assert registry.unheard("w1", 1) == {"a"}, "the same term, after a lapse"

    assert registry.unheard("w1", 2) == set(), "another leader may have listed it"
    registry.starts("d", "w1", 2)
    registry.starts("e", "w1", 1)
    assert registry.unheard("w1", 2) == {"d"}
    registry.forget("w1")
    assert registry.unheard("w1", 2) == set()
