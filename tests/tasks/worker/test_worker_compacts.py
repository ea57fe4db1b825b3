"""A whole worker that compacts beside its tasks: told and heard by syncs, ended like the rest."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.contract.messages import FailureCode
from tasks.ports import Fenced, TaskError
from tests.tasks.memory import AT_ONCE_S, DEADLINE_S, DOWN, MemoryOverlord, at, desired
from tests.tasks.orders import compaction, file_of
from tests.tasks.worker.worker_site import Site
from tests.waiting import wait_until


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    before = set(threading.enumerate())
    new_site = Site(tmp_path)
    yield new_site
    new_site.engine.release()
    new_site.overlord.fail(None)
    new_site.end()
    wait_until(lambda: not [t.name for t in threading.enumerate() if t not in before])


def reported(overlord: MemoryOverlord) -> dict[str, FailureCode | None]:
    return {report.compaction_id: report.failure for report in overlord.compaction_reports()}


def test_a_worker_compacts_and_reads_side_by_side(site: Site) -> None:
    site.overlord.list(desired("task-1"))
    site.overlord.list_compactions(compaction("c-1"))
    site.start()

    site.overlord.wait_for(lambda o: len(o.compacted) == 1)
    site.overlord.wait_report("task-1", lambda r: r.position == at(5))
    assert file_of("c-1") in site.engine.files
    assert site.overlord.compacted[0][1].incarnation == site.overlord.requests[-1].incarnation
    heard = len(site.overlord.requests)
    site.overlord.wait_for(lambda o: len(o.requests) > heard + 1 and not reported(o))


def test_a_compaction_that_runs_or_failed_is_reported(site: Site) -> None:
    site.engine.hold()
    site.overlord.list_compactions(compaction("c-1"), compaction("../c-2"))
    site.start()
    site.overlord.wait_for(lambda o: reported(o) == {"c-1": None, "../c-2": FailureCode.REFUSED})

    site.engine.failure = TaskError(FailureCode.READ_FAILED, "clicks/data/task-1 is not there")
    site.engine.release()

    site.overlord.wait_for(lambda o: reported(o).get("c-1") is FailureCode.READ_FAILED)
    assert "is not there" in site.overlord.compaction_reports()[0].detail
    site.overlord.list_compactions()
    site.overlord.wait_for(lambda o: not reported(o))


def test_one_that_is_listed_no_more_is_reported_until_its_job_has_ended(site: Site) -> None:
    site.engine.hold(deaf=True)
    site.overlord.list_compactions(compaction("c-1"))
    site.start()
    site.engine.wait_running("c-1")

    site.overlord.list_compactions()
    heard = len(site.overlord.requests)
    site.overlord.wait_for(lambda o: len(o.requests) > heard + 3)
    assert reported(site.overlord) == {"c-1": None}

    site.engine.release()
    site.overlord.wait_for(lambda o: not reported(o))
    assert site.overlord.compacted == []


def test_a_stop_cancels_a_compaction_at_once(site: Site) -> None:
    """Goal: it does not even wait as long as a batch is waited for."""
    site.engine.hold()
    site.overlord.list_compactions(compaction("c-1"), compaction("c-2"))
    site.start()
    site.engine.wait_running("c-1")

    assert site.end() == 0

    last = site.overlord.requests[-1]
    assert (last.stopping, last.compactions) == (True, ())
    assert (site.engine.files, site.overlord.compacted) == (set(), [])


def test_a_stop_does_not_wait_for_ever_for_a_compaction(site: Site) -> None:
    site.engine.hold(deaf=True)
    site.overlord.list_compactions(compaction("c-1"))
    site.start()
    site.engine.wait_running("c-1")
    began = time.monotonic()

    assert site.end() == 0

    assert time.monotonic() - began < AT_ONCE_S
    [report] = site.overlord.requests[-1].compactions
    assert (report.compaction_id, report.failure) == ("c-1", None)


def test_a_stop_ends_an_offer_that_nobody_answers(site: Site) -> None:
    site.overlord.list_compactions(compaction("c-1"))
    site.start()
    site.overlord.wait_for(lambda o: len(o.compacted) == 1)
    site.overlord.wait_for(lambda o: not reported(o))
    site.engine.hold()
    site.overlord.list_compactions(compaction("c-2"))
    site.engine.wait_running("c-2")
    site.overlord.fail(DOWN)
    site.engine.release()
    site.overlord.wait_for(lambda o: len(o.compacted) > 2)

    assert site.end() == 0


def test_a_fenced_worker_cancels_its_compaction(site: Site) -> None:
    site.engine.hold()
    site.overlord.list_compactions(compaction("c-1"))
    site.start()
    site.engine.wait_running("c-1")

    site.overlord.fail(Fenced("incarnation 2 registered"))

    site.thread.join(DEADLINE_S)
    assert (site.code, site.engine.files) == (1, set())


def test_a_worker_that_starts_again_is_told_again(site: Site) -> None:
    site.engine.hold()
    site.overlord.list_compactions(compaction("c-1"))
    site.start()
    site.engine.wait_running("c-1")
    site.end()
    site.engine.release()

    site.start()

    site.overlord.wait_for(lambda o: len(o.compacted) == 1)
    assert site.overlord.compacted[0][1].incarnation == 2
