"""The worlds in which executions are tried: the rules alone, and the two engines of the product."""

from collections.abc import Callable
from dataclasses import dataclass

import structlog

from tests.supervisor.core.crashes.run import ExecutionsOutcome
from tests.supervisor.core.crashes.run import run_seed as run_model
from tests.supervisor.executions.lives.run import run_seed as run_sql
from tests.supervisor.executions.topics.run import run_seed as run_topics

_OF_THE_MODEL = frozenset(
    {
        "relay: outbox",
        "relay: send",
        "relay: mark",
        "relay: purge",
        "relay: purge rows",
        "sequencer: takeover",
        "sequencer: restore",
        "sequencer: reduce",
        "sequencer: produce",
        "sequencer: produce the rest",
        "sequencer: commit",
        "sequencer: know",
        "runner: claim",
        "runner: grant",
        "runner: run",
        "runner: effect",
        "runner: result",
        "runner: look",
        "runner: mark the offset",
        "projector: project",
        "projector: projected",
    }
)
_OF_LEADERS = frozenset(
    {
        "leader: renew",
        "leader: times",
        "leader: triggers",
        "leader: purge",
        "leader: publishes",
        "leader: position of the queue",
        "leader: before the commit",
        "leader: behind the commit",
        "runner: serve",
        "runner: run",
        "runner: effect",
    }
)
_OF_EXECUTORS = frozenset(
    {
        "executor: owns",
        "executor: take over",
        "executor: restore",
        "executor: turn",
        "executor: read",
        "executor: reduce",
        "executor: write",
        "executor: commit",
        "executor: answer",
        "executor: lose",
        "executor: purge",
        "runner: serve",
        "runner: run",
        "runner: effect",
    }
)


@dataclass(frozen=True)
class ExecutionWorld:
    """One of them."""

    name: str
    run: Callable[[int, Callable[[str], None] | None], ExecutionsOutcome]
    crash_points: frozenset[str]
    """Where processes have to die in many seeds."""


WORLDS = (
    ExecutionWorld("model", run_model, _OF_THE_MODEL),
    ExecutionWorld("sql", run_sql, _OF_LEADERS),
    ExecutionWorld("topics", run_topics, _OF_EXECUTORS),
)


def world_of(name: str) -> ExecutionWorld:
    """Return one by its name.

    Raises:
        KeyError: there is none.
    """
    return {one.name: one for one in WORLDS}[name]


def run_in(
    world: str, seed: int, on_line: Callable[[str], None] | None = None
) -> ExecutionsOutcome:
    """Run one seed of a world; what the product logs is not written."""
    before = structlog.get_config()
    structlog.configure(processors=[_drop])
    try:
        return world_of(world).run(seed, on_line)
    finally:
        structlog.configure(**before)


def _drop(*_: object) -> structlog.typing.EventDict:
    raise structlog.DropEvent
