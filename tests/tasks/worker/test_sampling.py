"""A whole worker that samples beside its tasks: told by syncs, answered once, bounded."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition

import pytest

from tasks.contract.connection_policy import ConnectionPolicy
from tasks.contract.messages import FailureCode
from tasks.contract.sample import DesiredSample, SampleAnswer, SampledRecord
from tasks.ports import BatchCancelled, OverlordRefused, TaskError
from tests.tasks.memory import AT_ONCE_S, DEADLINE_S, DOWN, MemoryOverlord, at, desired
from tests.tasks.orders import sample
from tests.tasks.worker.worker_site import Site
from tests.waiting import wait_until


@dataclass
class MemorySampler:
    """Answers when the test says so; `cancel` is the engine's."""

    at_once: int = 2
    held: bool = False
    failure: Exception | None = None
    record_bytes: int = 10
    running: set[str] = field(default_factory=set)
    begun: list[str] = field(default_factory=list)
    cancelled: set[str] = field(default_factory=set)
    changed: Condition = field(default_factory=Condition)

    def sample(self, order: DesiredSample) -> SampleAnswer:
        with self.changed:
            self.begun.append(order.sample_id)
            self.running.add(order.sample_id)
            self.changed.notify_all()
            done = lambda: not self.held or order.sample_id in self.cancelled  # noqa: E731
            assert self.changed.wait_for(done, DEADLINE_S)
            self.running.discard(order.sample_id)
            self.changed.notify_all()
            if order.sample_id in self.cancelled:
                raise BatchCancelled(order.sample_id)
            if self.failure is not None:
                raise self.failure
        text = "x" * self.record_bytes
        record = SampledRecord(topic="clicks", partition=0, offset=0, input=text)
        return SampleAnswer(sample_id=order.sample_id, records=(record,))

    def cancel(self, name: str) -> None:
        with self.changed:
            self.cancelled.add(name)
            self.changed.notify_all()

    def release(self) -> None:
        with self.changed:
            self.held = False
            self.changed.notify_all()

    def wait_running(self, *names: str) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: self.running == set(names), DEADLINE_S)


@dataclass
class Yard:
    site: Site
    sampler: MemorySampler

    @property
    def overlord(self) -> MemoryOverlord:
        return self.site.overlord

    def answers(self) -> dict[str, SampleAnswer]:
        return {answer.sample_id: answer for _, answer in self.overlord.sampled}


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    before = set(threading.enumerate())
    sampler = MemorySampler()
    site = Site(
        tmp_path, sampler=sampler, connections=ConnectionPolicy(kafka_allow=("broker:9092",))
    )
    cancel = site.engine.cancel

    def cancel_both(name: str) -> None:  # as in the product, where both share their jobs
        sampler.cancel(name)
        cancel(name)

    setattr(site.engine, "cancel", cancel_both)  # noqa: B010 -- the test's own double
    yield Yard(site, sampler)
    sampler.release()
    site.engine.release()
    site.overlord.fail(None)
    site.end()
    wait_until(lambda: not [t.name for t in threading.enumerate() if t not in before])


def test_a_worker_samples_and_reads_side_by_side(yard: Yard) -> None:
    yard.overlord.list(desired("task-1"))
    yard.overlord.list_samples(sample("s-1"), sample("s-2"))
    yard.site.start()

    yard.overlord.wait_for(lambda o: len(o.sampled) == 2)
    yard.overlord.wait_report("task-1", lambda r: r.position == at(5))
    assert {token for token, _ in yard.overlord.sampled} == {"token of s-1", "token of s-2"}
    heard = len(yard.overlord.requests)
    yard.overlord.wait_for(lambda o: len(o.requests) > heard + 3)
    assert sorted(yard.sampler.begun) == ["s-1", "s-2"], "read once, though it is listed still"


@pytest.mark.parametrize("at_once", [1, 2])
def test_samples_run_a_few_at_once(yard: Yard, at_once: int) -> None:
    yard.sampler.held, yard.sampler.at_once = True, at_once
    names = [f"s-{n}" for n in range(at_once + 2)]
    yard.overlord.list_samples(*map(sample, names))
    yard.site.start()

    yard.sampler.wait_running(*names[:at_once])
    yard.sampler.release()

    yard.overlord.wait_for(lambda o: len(o.sampled) == len(names))


def test_a_sample_after_the_first_ones_is_read_as_well(yard: Yard) -> None:
    yard.site.start()
    for number in range(5):
        yard.overlord.list_samples(sample(f"s-{number}"))
        yard.overlord.wait_for(lambda o, n=number: len(o.sampled) == n + 1)  # type: ignore[misc]


def test_what_is_listed_no_more_is_cancelled_and_not_answered(yard: Yard) -> None:
    yard.sampler.held = True
    yard.overlord.list_samples(sample("s-1"))
    yard.site.start()
    yard.sampler.wait_running("s-1")

    yard.overlord.list_samples(sample("s-2"))
    yard.sampler.wait_running("s-2")
    yard.sampler.release()

    yard.overlord.wait_for(lambda o: len(o.sampled) == 1)
    assert yard.answers().keys() == {"s-2"}
    assert yard.sampler.cancelled == {"s-1"}


def test_a_sample_is_cancelled_when_its_time_is_over(yard: Yard) -> None:
    """Goal: also while no overlord answers, so that none takes cores for ever."""
    yard.sampler.held = True
    yard.overlord.list_samples(sample("s-1", within_s=0.3))
    yard.site.start()
    yard.sampler.wait_running("s-1")
    yard.overlord.fail(DOWN)

    yard.sampler.wait_running()
    assert yard.sampler.cancelled == {"s-1"}
    assert yard.overlord.sampled == []


def test_an_answer_that_is_refused_for_good_is_not_repeated(yard: Yard) -> None:
    yard.sampler.held = True
    yard.overlord.list_samples(sample("s-1"))
    yard.site.start()
    yard.sampler.wait_running("s-1")
    yard.overlord.fail(OverlordRefused("413 at most 16777216 bytes are taken"))
    yard.sampler.release()

    wait_until(lambda: "sampler" not in {thread.name for thread in threading.enumerate()})
    yard.overlord.fail(None)
    assert yard.overlord.sampled == []


def test_an_answer_is_told_until_it_is_heard(yard: Yard) -> None:
    yard.sampler.held = True
    yard.overlord.list_samples(sample("s-1"))
    yard.site.start()
    yard.sampler.wait_running("s-1")
    yard.overlord.fail(DOWN)
    yard.sampler.release()
    yard.sampler.wait_running()

    yard.overlord.fail(None)

    yard.overlord.wait_for(lambda o: len(o.sampled) == 1)


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (TaskError(FailureCode.READ_FAILED, "the topic is gone"), "the topic is gone"),
        (ValueError("a bug with /etc/secret in it"), "the worker failed: ValueError"),
    ],
)
def test_a_failure_is_the_answer(yard: Yard, failure: Exception, message: str) -> None:
    yard.sampler.failure = failure
    yard.overlord.list_samples(sample("s-1"))
    yard.site.start()

    yard.overlord.wait_for(lambda o: len(o.sampled) == 1)
    assert yard.answers()["s-1"].failure == message


def test_an_answer_that_no_overlord_would_take_is_told_as_such(yard: Yard) -> None:
    yard.sampler.record_bytes = 13 * 1024 * 1024
    yard.overlord.list_samples(sample("s-1"))
    yard.site.start()

    yard.overlord.wait_for(lambda o: len(o.sampled) == 1)
    assert "too large" in yard.answers()["s-1"].failure


def test_a_host_that_is_not_allowed_is_refused_before_anything_is_read(yard: Yard) -> None:
    """Goal: a worker does not trust an overlord here, either."""
    yard.overlord.list_samples(sample("s-1", servers="elsewhere:9092"))
    yard.site.start()

    yard.overlord.wait_for(lambda o: len(o.sampled) == 1)
    assert "may not connect to the brokers elsewhere:9092" in yard.answers()["s-1"].failure
    assert yard.sampler.begun == []


def test_a_worker_without_a_sampler_says_so(yard: Yard) -> None:
    yard.site.sampler = None
    yard.overlord.list_samples(sample("s-1"))
    yard.site.start()

    yard.overlord.wait_for(lambda o: len(o.sampled) == 1)
    assert yard.answers()["s-1"].failure == "this worker takes no samples"


def test_a_stop_cancels_samples_at_once(yard: Yard) -> None:
    yard.sampler.held = True
    yard.overlord.list_samples(*(sample(f"s-{n}") for n in range(yard.sampler.at_once + 1)))
    yard.site.start()
    yard.sampler.wait_running(*(f"s-{n}" for n in range(yard.sampler.at_once)))
    began = time.monotonic()

    assert yard.site.end() == 0

    assert time.monotonic() - began < AT_ONCE_S
    assert yard.overlord.sampled == []
