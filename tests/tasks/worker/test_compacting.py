"""The compactions of a worker: one after the other, offered until an answer, told until the end."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest

from tasks.contract.messages import FailureCode, PublishOutcome
from tasks.durable_files import NoSpace
from tasks.ports import BatchCancelled, Fenced, OverlordRefused, TaskError
from tasks.worker.compaction import Compactor
from tests.tasks.memory import DEADLINE_S, DOWN
from tests.tasks.orders import compaction, file_of
from tests.tasks.worker.test_runner import QUICK
from tests.tasks.worker.yard import Yard
from tests.waiting import wait_until


@pytest.fixture
def yard() -> Iterator[Yard]:
    before = set(threading.enumerate())
    new_yard = Yard()
    yield new_yard
    new_yard.compactor.close()
    new_yard.engine.release()
    assert new_yard.compactor.join(DEADLINE_S)
    assert not [t.name for t in threading.enumerate() if t not in before]


def test_a_listed_compaction_is_done_offered_and_forgotten(yard: Yard) -> None:
    yard.engine.hold()
    yard.list_compactions("c-1")
    assert yard.engine.wait_running("c-1") == compaction("c-1")
    assert yard.reported() == {"c-1": None}
    yard.engine.release()

    wait_until(lambda: not yard.compactor.reports())
    [(token, offered)] = yard.overlord.compacted
    assert token == "token of c-1"
    assert (offered.compaction_id, offered.incarnation) == ("c-1", 7)
    assert (offered.file.path, offered.file.rows) == (file_of("c-1"), 20)
    assert yard.engine.files == {file_of("c-1")}
    assert yard.passed == ["compact:written", "compact:published"]


def test_a_repeated_list_changes_nothing(yard: Yard) -> None:
    yard.engine.hold()
    yard.list_compactions("c-1", "c-2")
    yard.engine.wait_running("c-1")

    for _ in range(3):
        yard.list_compactions("c-1", "c-2")
    yard.engine.release()

    wait_until(lambda: not yard.compactor.reports())
    yard.list_compactions("c-1", "c-2")
    assert (yard.offered_ids(), yard.reported()) == (["c-1", "c-2"], {})


def test_one_is_done_at_a_time_in_the_order_of_the_list(yard: Yard) -> None:
    yard.engine.hold()
    yard.list_compactions("c-2", "c-1", "c-3")
    yard.engine.wait_running("c-2")
    assert yard.reported() == {"c-2": None, "c-1": None, "c-3": None}
    yard.engine.release()

    yard.wait_offered(3)
    assert yard.offered_ids() == ["c-2", "c-1", "c-3"]
    assert yard.engine.running_most == 1


def test_one_that_is_listed_no_more_is_cancelled_and_the_next_is_done(yard: Yard) -> None:
    yard.engine.hold()
    yard.list_compactions("c-1", "c-2")
    yard.engine.wait_running("c-1")

    yard.list_compactions("c-2")

    yard.engine.wait_running("c-2")
    assert yard.reported() == {"c-2": None}
    yard.engine.release()
    yard.wait_offered()
    assert yard.engine.files == {file_of("c-2")}


def test_one_that_waits_and_is_listed_no_more_is_never_done(yard: Yard) -> None:
    yard.engine.hold()
    yard.list_compactions("c-1", "c-2", "c-3")
    yard.engine.wait_running("c-1")

    yard.list_compactions("c-1", "c-3")
    assert yard.reported() == {"c-1": None, "c-3": None}
    yard.engine.release()

    yard.wait_offered(2)
    assert yard.offered_ids() == ["c-1", "c-3"]


def test_one_is_reported_for_as_long_as_its_job_may_write(yard: Yard) -> None:
    """Goal: the overlord deletes its folder when no report lists it any more."""
    yard.engine.hold(deaf=True)
    yard.list_compactions("c-1")
    yard.engine.wait_running("c-1")

    yard.list_compactions()
    assert yard.reported() == {"c-1": None}
    yard.list_compactions("c-1")
    yard.list_compactions()
    assert yard.reported() == {"c-1": None}
    yard.news.clear()
    yard.engine.release()

    wait_until(lambda: not yard.compactor.reports())
    assert yard.news.wait(DEADLINE_S), "that it is gone is carried up at once"
    assert yard.offered_ids() == [], "what nobody wants is not offered"


def test_one_that_was_listed_no_more_is_not_begun_again(yard: Yard) -> None:
    """Goal: this incarnation never gives a file name twice."""
    yard.engine.hold()
    yard.list_compactions("c-1", "c-2")
    yard.engine.wait_running("c-1")
    yard.list_compactions()
    wait_until(lambda: not yard.compactor.reports())
    yard.engine.release()

    yard.list_compactions("c-1", "c-2", "c-3")

    yard.wait_offered()
    wait_until(lambda: "c-3" not in yard.reported())
    assert yard.reported() == {"c-1": FailureCode.REFUSED, "c-2": FailureCode.REFUSED}
    assert yard.offered_ids() == ["c-3"]
    yard.list_compactions()
    assert yard.reported() == {}


def test_a_failure_of_one_that_is_listed_no_more_is_told_to_nobody(yard: Yard) -> None:
    yard.engine.hold(deaf=True)
    yard.list_compactions("c-1")
    yard.engine.wait_running("c-1")
    yard.list_compactions()

    yard.engine.failure = TaskError(FailureCode.WRITE_FAILED, "the disk is broken")
    yard.engine.release()

    wait_until(lambda: not yard.compactor.reports())


@pytest.mark.parametrize("ends", ["listed no more", "closed"])
def test_a_cancel_that_came_too_early_is_repeated(yard: Yard, ends: str) -> None:
    """Goal: between a thread's choice and the engine's job lie moments without a job to cancel."""
    lost: list[str] = []
    real = yard.engine.cancel

    def deaf_once(compaction_id: str) -> None:
        if lost:
            real(compaction_id)
        lost.append(compaction_id)

    world = replace(yard.compactor._world, cancel=deaf_once)
    yard.compactor = Compactor(world, QUICK, incarnation=7)
    yard.engine.hold()
    yard.list_compactions("c-1")
    yard.engine.wait_running("c-1")

    if ends == "closed":
        yard.compactor.close()
        assert yard.reported() == {"c-1": None}
        assert yard.compactor.join(DEADLINE_S)
    else:
        yard.list_compactions()
        assert yard.reported() == {"c-1": None}
        yard.list_compactions()

    wait_until(lambda: not yard.compactor.reports())


def test_a_file_is_offered_until_an_overlord_answers(yard: Yard) -> None:
    yard.overlord.fail(DOWN)
    yard.list_compactions("c-1", "c-2")
    yard.wait_offered(3)
    assert (yard.reported(), set(yard.offered_ids())) == ({"c-1": None, "c-2": None}, {"c-1"})

    yard.overlord.fail(None)

    wait_until(lambda: not yard.compactor.reports())
    assert yard.offered_ids()[-1] == "c-2"
    assert yard.passed == ["compact:written", "compact:published"] * 2


def test_an_offer_carries_the_newest_token(yard: Yard) -> None:
    yard.overlord.fail(DOWN)
    yard.list_compactions("c-1")
    yard.wait_offered()

    yard.compactor.apply([compaction("c-1", token="new")])
    yard.overlord.fail(None)

    wait_until(lambda: not yard.compactor.reports())
    assert yard.overlord.compacted[-1][0] == "new"


def test_an_offer_ends_when_it_is_listed_no_more(yard: Yard) -> None:
    yard.overlord.fail(DOWN)
    yard.list_compactions("c-1")
    yard.wait_offered()

    yard.list_compactions()

    wait_until(lambda: not yard.compactor.reports())
    offers = len(yard.offered_ids())
    yard.overlord.fail(None)
    yard.list_compactions("c-2")
    yard.wait_offered(offers + 1)
    assert yard.offered_ids()[offers:] == ["c-2"]


def test_an_offer_that_was_superseded_is_forgotten(yard: Yard) -> None:
    yard.overlord.outcome = PublishOutcome.SUPERSEDED
    yard.list_compactions("c-1")
    wait_until(lambda: not yard.compactor.reports())

    yard.list_compactions("c-1")

    assert (yard.reported(), yard.offered_ids()) == ({}, ["c-1"])


def test_an_answer_that_means_nothing_here_is_a_failure(yard: Yard) -> None:
    yard.overlord.outcome = PublishOutcome.STALE
    yard.list_compactions("c-1")

    report = yard.failed("c-1")

    assert (report.failure, "because stale" in report.detail) == (FailureCode.INTERNAL, True)


def test_an_offer_that_is_fenced_off_ends_the_worker(yard: Yard) -> None:
    yard.overlord.fail(Fenced("incarnation 8 registered"))
    yard.list_compactions("c-1")

    assert yard.fenced.wait(DEADLINE_S)
    assert yard.reported() == {"c-1": None}


def test_an_offer_that_is_refused_for_good_is_reported_and_not_repeated(yard: Yard) -> None:
    """Goal: the overlord ends it, and the worker is free for the next."""
    yard.overlord.fail(OverlordRefused("413 at most 16777216 bytes are taken"))
    yard.list_compactions("c-1")

    report = yard.failed("c-1")

    assert (report.failure, "413 at most" in report.detail) == (FailureCode.REFUSED, True)
    assert yard.offered_ids() == ["c-1"]


_FAILURES = {
    "refused": (TaskError(FailureCode.REFUSED, "two kinds"), FailureCode.REFUSED),
    "damaged": (TaskError(FailureCode.READ_FAILED, "gone"), FailureCode.READ_FAILED),
    "full": (NoSpace("no space below /"), FailureCode.WRITE_FAILED),
    "disk": (OSError(5, "Input/output error"), FailureCode.WRITE_FAILED),
    "bug": (KeyError("x"), FailureCode.INTERNAL),
    "cancelled": (BatchCancelled("c-1/1"), FailureCode.INTERNAL),
}


@pytest.mark.parametrize("kind", sorted(_FAILURES))
def test_a_failure_is_reported_until_it_is_listed_no_more(yard: Yard, kind: str) -> None:
    yard.engine.failure, wanted = _FAILURES[kind]
    yard.list_compactions("c-1")

    report = yard.failed("c-1")
    assert report.failure is wanted
    assert report.detail
    assert yard.news.wait(DEADLINE_S)
    yard.engine.failure = None
    yard.list_compactions("c-1", "c-2")
    yard.wait_offered()
    wait_until(lambda: yard.reported() == {"c-1": wanted})
    assert yard.offered_ids() == ["c-2"], "the other is not tried again"

    yard.list_compactions()
    assert yard.reported() == {}


def test_a_long_failure_is_cut(yard: Yard) -> None:
    yard.engine.failure = TaskError(FailureCode.INTERNAL, "x" * 10_000)
    yard.list_compactions("c-1")

    assert len(yard.failed("c-1").detail) == 4_000


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "a..b", "x" * 201, "a b", "ä"])
@pytest.mark.parametrize("which", ["compaction", "data source"])
def test_a_name_that_leads_out_of_its_folder_is_refused(yard: Yard, name: str, which: str) -> None:
    order = compaction(name) if which == "compaction" else compaction(data_source=name)

    yard.compactor.apply([order])
    assert yard.failed(order.compaction_id).failure is FailureCode.REFUSED
    assert yard.news.is_set(), "it is carried up at once"
    yard.compactor.apply([order, compaction("c-2")])

    yard.wait_offered()
    assert yard.engine.files == {file_of("c-2")}


def test_an_engine_that_died_is_no_failure_of_a_compaction(yard: Yard) -> None:
    """Goal: the worker ends, and the next one is told again."""
    yard.engine.failure = KeyError("the pipe is broken")
    yard.alive = False
    yard.list_compactions("c-1", "c-2")

    assert yard.compactor.join(DEADLINE_S), "its thread has ended by itself"
    assert yard.reported() == {"c-1": None, "c-2": None}


def test_closed_it_cancels_at_once_and_begins_nothing(yard: Yard) -> None:
    yard.engine.hold()
    yard.list_compactions("c-1", "c-2")
    yard.engine.wait_running("c-1")

    yard.compactor.close()

    wait_until(lambda: not yard.compactor.reports())
    assert yard.compactor.join(DEADLINE_S)
    yard.list_compactions("c-1", "c-2", "c-3")
    assert (yard.reported(), yard.engine.files, yard.offered_ids()) == ({}, set(), [])


def test_closed_it_waits_no_longer_than_it_may(yard: Yard) -> None:
    yard.engine.hold(deaf=True)
    yard.list_compactions("c-1")
    yard.engine.wait_running("c-1")

    yard.compactor.close()

    assert not yard.compactor.join(0.1)
    assert yard.reported() == {"c-1": None}, "it may still write"


@pytest.mark.parametrize("place", ["compact:written", "compact:published"])
def test_closed_in_the_middle_of_an_offer_it_ends(yard: Yard, place: str) -> None:
    closed: list[str] = []

    def close(here: str) -> None:
        if here == place:
            yard.compactor.close()
            closed.append(here)

    yard.at_place = close
    yard.list_compactions("c-1", "c-2")

    wait_until(partial(bool, closed))
    assert yard.compactor.join(DEADLINE_S)
    assert yard.reported() == {}
    assert yard.offered_ids() == (["c-1"] if place == "compact:published" else [])


def test_without_a_compaction_there_is_no_thread() -> None:
    before = set(threading.enumerate())
    yard = Yard()

    yard.list_compactions()
    yard.compactor.close()

    assert yard.compactor.join(0)
    assert set(threading.enumerate()) <= before
