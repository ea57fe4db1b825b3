"""Versions of one flow that two people change at once, on both databases."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from supervisor.core.values.errors import FlowNotFound
from supervisor.core.values.permissions import Actor
from supervisor.ports.flows.executions import ExecutionReads, ExecutionRows, ExecutionStore
from supervisor.services.flows.flows import Flows
from tests.conformance.executions.leaders import BOSS, SLEEPS, JumpingClock, Leaders, OneLeader

BEGAN = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.pg)])
def leader(request: pytest.FixtureRequest) -> Iterator[OneLeader]:
    """A leader over fresh databases of each kind."""
    metadata = str(request.getfixturevalue(f"{request.param}_url"))
    executions = str(request.getfixturevalue(f"executions_{request.param}_url"))
    with closing(Leaders(metadata, executions, JumpingClock(BEGAN))) as leaders:
        yield leaders.next()


@dataclass
class _Meets:
    """A database in which two sessions begin to write at the same time."""

    store: ExecutionStore
    both: threading.Barrier

    def reading(self) -> AbstractContextManager[ExecutionReads]:
        """Read at any time."""
        return self.store.reading()

    def working(self, term: int) -> AbstractContextManager[ExecutionRows]:
        """Wait for the other session."""
        self.both.wait(60)
        return self.store.working(term)


def _delete(flows: Flows, author: Actor) -> int | None:
    try:
        return flows.delete("f", author).version
    except FlowNotFound:
        return None


@pytest.mark.parametrize("names", [("ann", "bob"), ("ann", "ann")])
def test_two_who_delete_one_flow_at_once_leave_one_tombstone(
    leader: OneLeader, names: tuple[str, str]
) -> None:
    """Goal: one has deleted it, and for the other one there is no such flow any more."""
    leader.flows.apply({"flow": "f", "steps": [SLEEPS]}, BOSS)
    flows = replace(leader.flows, executions=_Meets(leader.executions, threading.Barrier(2)))

    with ThreadPoolExecutor(2) as people:
        both = [people.submit(_delete, flows, Actor.named(name, None)) for name in names]
        ends = [each.result(60) for each in both]

    assert sorted(ends, key=str) == [2, None]
    assert [(one.version, one.deleted) for one in leader.flows.versions("f", 9, None)] == [
        (2, True),
        (1, False),
    ]
    with leader.store.reading() as tx:
        assert [one.action for one in tx.audit.recent(9)].count("delete-flow") == 1
