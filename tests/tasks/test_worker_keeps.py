"""A worker whose overlord cannot read the spec of a task: it keeps the task, and takes orders."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.contract.messages import KeptOrder, Order, TaskPhase
from tests.tasks.memory import at, desired, order, pause
from tests.tasks.worker.worker_site import Site
from tests.waiting import wait_until


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    before = set(threading.enumerate())
    new_site = Site(tmp_path)
    yield new_site
    new_site.overlord.fail(None)
    new_site.end()
    wait_until(lambda: not [t.name for t in threading.enumerate() if t not in before])


def test_a_task_that_is_kept_goes_on_as_it_was_ordered(site: Site) -> None:
    """Goal: an overlord that cannot read its spec neither ends it nor loses what it journaled."""
    site.overlord.list(desired("task-1"), desired("task-2"))
    site.start()
    site.overlord.wait_report("task-1", lambda r: r.position == at(5))

    site.overlord.list(desired("task-2"), kept=("task-1",))
    site.log.stable = at(9)

    site.overlord.wait_report("task-1", lambda r: r.position == at(9))
    site.end()
    before = len(site.overlord.requests)
    site.start()  # its process began anew: it waits for its order, and its journal with it
    site.overlord.wait_for(lambda o: len(o.requests) > before + 2)  # it has had an answer
    site.overlord.wait_report("task-2", lambda r: r.position == at(9))
    assert site.journals() == {"task-1", "task-2"}
    site.overlord.list(desired("task-2"))
    wait_until(lambda: site.journals() == {"task-2"})


def _orders(site: Site, new: Order, *others: str) -> None:
    named = ("task-1", *others)
    site.overlord.list(kept=tuple(KeptOrder(task_id=each, order=new) for each in named))


def test_a_task_that_is_kept_is_handed_off_by_orders_alone(site: Site) -> None:
    """Goal: what it read is published once a newer spec has followed its own.  Source: P5."""
    site.overlord.list(desired("task-1"))
    site.start()
    site.overlord.wait_report("task-1", lambda r: r.position == at(5))

    _orders(site, pause(2), "another worker's")
    site.overlord.wait_report("task-1", lambda r: r.phase is TaskPhase.PAUSED)
    site.log.stable = at(9)
    _orders(site, order(3, end=at(5)))

    site.overlord.wait_report("task-1", lambda r: r.phase is TaskPhase.SUCCESS)
    assert site.overlord.published[0].end == at(5)
    site.overlord.list()
    wait_until(lambda: site.journals() == set())


def test_a_task_that_only_has_an_order_is_not_started(site: Site) -> None:
    """Goal: nobody guesses its spec."""
    _orders(site, order(3, end=at(5)))
    site.start()
    site.overlord.wait_for(lambda o: len(o.requests) > 1)

    assert site.overlord.reports() == ()
