"""Many who store versions of one spec at once: what each of them judged is what it wrote after."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise

import pytest

from supervisor.adapters.manual_clock import ManualClock
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.wakeups import Wakeups
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.model.rows import SpecVersion
from supervisor.core.values.errors import AlreadyInState, MetadataBusy, StateMoved
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Store
from supervisor.services.supervisors.admission import OperatorPolicy
from supervisor.services.supervisors.specs import Service
from tests.conformance.stories import NOON, Leader
from tests.supervisor.core.snapshots import TOPIC, other_spec, spec

AT_ONCE = 50


@pytest.fixture
def service(database: SqlStore) -> Service:
    """The verbs over each store; no pass is ever made."""
    clock = ManualClock(NOON)
    leadership = Leadership(database, clock, holder="me", url="http://me", ttl=timedelta(days=1))
    leadership.step()
    assert leadership.leads()
    registry = WorkerRegistry(
        clock, worker_timeout=timedelta(days=1), led_since=leadership.led_since
    )
    return Service(
        store=database,
        clock=clock,
        leadership=leadership,
        registry=registry,
        loop=Loop(lambda _: None, clock, threads=1),
        changed=Wakeups(),
        rules=OperatorPolicy(timedelta(seconds=60)),
    )


def stored(store: Store) -> list[SpecVersion]:
    with store.reading() as tx:
        return tx.specs.history(TOPIC)


def at_once(verb: Callable[[int], object]) -> Counter[str]:
    """Call `verb` from many threads that start together; return what came of it."""
    gate = threading.Barrier(AT_ONCE)

    def one(number: int) -> str:
        gate.wait(60)
        for _ in range(AT_ONCE):
            try:
                verb(number)
            except MetadataBusy:  # a 503: a client asks again
                continue
            except AlreadyInState:
                return "already"
            return "done"
        return "busy"

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return Counter(pool.map(one, range(AT_ONCE)))


def test_fifty_identical_posts_at_once_make_one_version(service: Service, store: Store) -> None:
    """Goal: a client that repeats itself restarts nothing.  Source: H8."""
    document = spec().normalised()
    modified = []

    at_once(lambda _: modified.append(service.apply_spec(document, "me").modified))

    assert sorted(modified) == [False] * (AT_ONCE - 1) + [True]
    assert [v.version for v in stored(store)] == [1]


def test_fifty_suspensions_at_once_make_one_version(service: Service, store: Store) -> None:
    """Goal: a verb is judged on what it then follows."""
    service.apply_spec(spec().normalised(), "me")

    outcomes = at_once(lambda _: service.suspend(TOPIC, "me"))

    assert outcomes == {"done": 1, "already": AT_ONCE - 1}
    assert [v.version for v in stored(store)] == [2, 1]


def test_different_specs_at_once_are_all_stored_one_after_the_other(
    service: Service, store: Store
) -> None:
    """Goal: nobody's change is lost, and no version asks for what the one before asked for."""
    documents = [spec().normalised(), other_spec().normalised()]

    at_once(lambda number: service.apply_spec(documents[number % 2], "me"))

    history = stored(store)
    assert [v.version for v in history] == list(range(len(history), 0, -1))
    assert len(history) >= 2
    assert all(newer.spec != older.spec for newer, older in pairwise(history))


def test_a_version_is_stored_only_after_the_one_it_was_judged_on(leader: Leader) -> None:
    with leader.writes() as tx:
        tx.specs.append(TOPIC, spec(), NOON, "me", after=0)
    with leader.writes() as tx:
        for wrong in (0, 2):
            with pytest.raises(StateMoved):
                tx.specs.append(TOPIC, other_spec(), NOON, "me", after=wrong)
        assert tx.specs.append(TOPIC, other_spec(), NOON, "me", after=1).version == 2
    with leader.reads() as tx:
        assert [v.version for v in tx.specs.history(TOPIC)] == [2, 1]
