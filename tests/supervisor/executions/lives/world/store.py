"""The store of executions as a life has it: it dies, or hears nothing, at each commit."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from supervisor.adapters.executions.store import SqlExecutionRows, SqlExecutions
from supervisor.ports.store_problems import StoreAway
from tests.supervisor.executions.lives.world.world import World

_AWAY = 0.01


@dataclass
class FaultyStore:
    """Implements `ports.flows.executions.ExecutionStore` over the real one."""

    inner: SqlExecutions
    world: World
    life: str

    @contextmanager
    def reading(self) -> Iterator[SqlExecutionRows]:
        """Open a transaction that only reads."""
        self._answer("does not answer a reader")
        with self.inner.reading() as rows:
            yield rows

    @contextmanager
    def working(self, term: int) -> Iterator[SqlExecutionRows]:
        """Open the transaction of a term.

        Raises:
            Died: the life has ended, before or after the commit.
            StoreAway: before the commit, or behind it: then nobody knows.
        """
        self._answer("does not answer a writer")
        with self.inner.working(term) as rows:
            yield rows
            self.world.may_die(self.life, "leader: before the commit")
            self._answer("goes away before a commit")
        self.world.wrote(self.life, term)
        self.world.may_die(self.life, "leader: behind the commit")
        self._answer("goes away behind a commit")

    def close(self) -> None:
        """Close its connections."""
        self.inner.close()

    def _answer(self, fault: str) -> None:
        world = self.world
        if world.trouble and world.chance.random() < _AWAY:
            world.faults[f"the database {fault}"] += 1
            world.trace(f"{self.life}: the database {fault}")
            raise StoreAway("on purpose")
