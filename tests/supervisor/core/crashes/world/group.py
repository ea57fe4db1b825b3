"""Who owns which partition, which runner lives, and what the database keeps."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pydantic import JsonValue

from supervisor.core.executions.entities import Execution, Runner
from supervisor.core.executions.inputs import ExecutionInput
from supervisor.core.executions.plan import FlowPlan

SESSION = timedelta(seconds=6)
"""A member that polls later than this has lost its partitions."""
LEASE = timedelta(seconds=8)
"""A runner that renews later than this is dead."""


@dataclass
class Group:
    """The members of a consumer group; partitions go round."""

    partitions: int
    _polled: dict[str, datetime] = field(default_factory=dict)
    committed: dict[int, int] = field(default_factory=dict)

    def poll(self, member: str, now: datetime) -> frozenset[int]:
        """Renew a member, and return its partitions."""
        self._polled[member] = now
        return self.owned(member, now)

    def owned(self, member: str, now: datetime) -> frozenset[int]:
        """Return a member's partitions as the group sees them."""
        members = sorted(one for one, at in self._polled.items() if now - at <= SESSION)
        if member not in members:
            return frozenset()
        place = members.index(member)
        return frozenset(part for part in range(self.partitions) if part % len(members) == place)

    def leave(self, member: str) -> None:
        """Take a member out that ends in order."""
        self._polled.pop(member, None)


@dataclass
class Registry:
    """Runners and their lives: a row each, with renewals."""

    _renewed: dict[Runner, datetime] = field(default_factory=dict)
    _dead: set[Runner] = field(default_factory=set)

    def renew(self, runner: Runner, now: datetime) -> bool:
        """Note that a runner lives; return False if it was taken for dead."""
        if self.is_dead(runner, now):
            return False
        self._renewed[runner] = now
        return True

    def is_dead(self, runner: Runner, now: datetime) -> bool:
        """Whether a runner's renewals have stopped; once dead it stays so."""
        if now - self._renewed.get(runner, now) > LEASE:
            self._dead.add(runner)
        return runner in self._dead


@dataclass
class Wanted:
    """A row that wants an execution, or something of one; `sent`: the relay has marked it."""

    execution: str
    given: ExecutionInput | None
    plan: FlowPlan | None = None
    inputs: Mapping[str, JsonValue] = field(default_factory=dict)
    sent: bool = False


@dataclass
class Database:
    """What the metadata database keeps; each method is one transaction."""

    rows: dict[str, Wanted] = field(default_factory=dict)
    """By the idempotency key of the request."""
    projected: dict[str, Execution] = field(default_factory=dict)
    offsets: dict[int, int] = field(default_factory=dict)
    purged: set[str] = field(default_factory=set)

    def want(self, key: str, row: Wanted) -> None:
        """Store a request once per key."""
        self.rows.setdefault(key, row)

    def unsent(self) -> list[tuple[str, Wanted]]:
        """Return what the relay has still to send."""
        return [(key, row) for key, row in self.rows.items() if not row.sent]

    def project(self, part: int, start: int, end: int, heads: list[Execution]) -> None:
        """Take newer versions over with the offset; a batch that another has brought is left."""
        if self.offsets.get(part, 0) != start:
            return
        self.offsets[part] = end
        for head in heads:
            known = self.projected.get(head.id)
            if head.id not in self.purged and (known is None or known.version < head.version):
                runs = {**(known.runs if known else {}), **head.runs}
                self.projected[head.id] = Execution(**{**vars(head), "runs": runs})

    def is_sent(self, execution: str) -> bool:
        """Whether every row of an execution is marked."""
        return all(row.sent for row in self.rows.values() if row.execution == execution)

    def purge(self, execution: str) -> None:
        """Forget an execution that has ended."""
        self.projected.pop(execution, None)
        self.purged.add(execution)
