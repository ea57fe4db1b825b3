"""The rows of a database of executions, as a reader of its own finds them after each commit."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from supervisor.core.executions.entities import Execution, Runner
from supervisor.core.executions.records import EVENT_FORM, StateRecord, restore
from supervisor.core.executions.reduced import ClaimReply
from tests.supervisor.core.crashes.world.log import Record
from tests.supervisor.core.crashes.world.messages import RESULTS, STATE, EventOf


@dataclass(frozen=True)
class GateRow:
    """One gate."""

    name: str
    limit: int
    holders: frozenset[str]
    queue: tuple[str, ...]


@dataclass(frozen=True)
class TriggerRow:
    """What a trigger counts."""

    position: str | None
    fired: int
    passed: int
    waiting: int


@dataclass
class Rows:
    """Reads what is new since the last look."""

    connection: sqlite3.Connection
    versions: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Execution -> its version, and its birth: one with the same id may come after a purge."""
    bodies: dict[str, str] = field(default_factory=dict)
    """Task run -> its record."""
    events: dict[str, int] = field(default_factory=dict)
    """Execution -> the number of events that were read."""
    claims: set[tuple[str, int, str]] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    def gone(self) -> list[str]:
        """Return the executions that are there no more, and forget them."""
        query = "SELECT id, created_at FROM executions"
        there = dict(self.connection.execute(query))
        gone = [name for name, (_, born) in self.versions.items() if there.get(name) != born]
        for name in gone:
            del self.versions[name]
            self.events.pop(name, None)
        return gone

    def records(self) -> Iterator[Record]:
        """Yield what is new or other than before, as records."""
        query = "SELECT id, version, state, head, plan, created_at FROM executions"
        for name, version, state, head, plan, born in list(self.connection.execute(query)):
            if self.versions.get(name) == (version, born):
                continue
            self.versions[name] = version, born
            execution, changed = self._execution(name, head, plan)
            if (execution.version, execution.state) != (version, state):
                self.wrong.append(f"X11 the row of {name} is not its record")
            yield Record((STATE, 0), 0, f"e/{name}", execution)
            for run in changed:
                yield Record((STATE, 0), 0, f"e/{name}/r/{run}", execution.runs[run])
            yield from self._events(name)
        for run, attempt, runner, life in self.connection.execute(
            "SELECT run, attempt, runner, incarnation FROM claims"
        ):
            if (run, attempt, life) not in self.claims:
                self.claims.add((run, attempt, life))
                reply = ClaimReply(run, attempt, Runner(runner, life), granted=True)
                yield Record((RESULTS, 0), 0, runner, reply)

    def _execution(self, name: str, head: str, plan: str) -> tuple[Execution, list[str]]:
        query = "SELECT id, body FROM task_runs WHERE execution = ?"
        rows = self.connection.execute(query, (name,)).fetchall()
        records = [
            StateRecord(f"e/{name}", head.encode()),
            StateRecord(f"e/{name}/plan", plan.encode()),
            *(StateRecord(f"e/{name}/r/{run}", body.encode()) for run, body in rows),
        ]
        changed = sorted(
            {run.partition("/")[0] for run, body in rows if self.bodies.get(run) != body}
        )
        self.bodies.update(rows)
        return restore(records).executions[name], changed

    def _events(self, name: str) -> Iterator[Record]:
        query = "SELECT body FROM events WHERE execution = ? AND number > ? ORDER BY number"
        after = self.events.get(name, 0)
        for (body,) in self.connection.execute(query, (name, after)).fetchall():
            after += 1
            event = EVENT_FORM.read(body.encode())
            yield Record((RESULTS, 0), 0, name, EventOf(name, event))
        self.events[name] = after

    def gates(self) -> dict[str, GateRow]:
        """Return every gate."""
        gates = {}
        for name, body in self.connection.execute("SELECT name, body FROM gates"):
            given = cast("Mapping[str, object]", json.loads(body))
            holders = frozenset(cast("list[str]", given["holders"]))
            queue = tuple(cast("list[str]", given["queue"]))
            gates[name] = GateRow(name, cast("int", given["limit"]), holders, queue)
        return gates

    def held(self) -> set[tuple[str, int, str]]:
        """Return the claims: task run, attempt, life."""
        query = "SELECT run, attempt, incarnation FROM claims"
        return set(self.connection.execute(query))

    def calls(self) -> set[tuple[str, int, int]]:
        """Return the calls: task run, attempt, look."""
        return set(self.connection.execute("SELECT run, attempt, look FROM calls"))

    def orphans(self) -> list[str]:
        """Return the tables that have rows of executions that are not there."""
        tables = ("task_runs", "events", "labels", "calls", "claims")
        query = "SELECT 1 FROM {} WHERE execution NOT IN (SELECT id FROM executions) LIMIT 1"
        return [one for one in tables if self.connection.execute(query.format(one)).fetchone()]

    def trigger(self, flow: str, name: str) -> TriggerRow | None:
        """Return one trigger."""
        query = "SELECT position, fired, passed, waiting FROM triggers WHERE flow = ? AND name = ?"
        row = self.connection.execute(query, (flow, name)).fetchone()
        return None if row is None else TriggerRow(*row)
