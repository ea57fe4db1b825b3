"""The engine over a database, as a scenario drives it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime, timedelta

from sqlalchemy import func, select

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.schema import CALLS, CLAIMS, GATES
from supervisor.adapters.executions.store import SqlExecutions
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.inputs import ExecutionInput
from supervisor.core.executions.plan import FlowPlan
from supervisor.core.executions.reduced import ClaimReply, ExecutionEvent, StepCall
from supervisor.core.flows.children import CalledFlow
from supervisor.executions.engine import StoredEngine
from tests.supervisor.core.crashes.world.world import BEGAN, LANGUAGE
from tests.supervisor.core.executions.called import flow_of

_ALL = 1_000_000


class _Died(BaseException):
    """The process ends here."""


class Stored:
    """Implements `EngineInTest`: each life of the owner opens the database anew."""

    def __init__(self, url: str, flows: dict[str, FlowPlan | CalledFlow] | None = None) -> None:
        """Open a database that is migrated and empty."""
        self.now: datetime = BEGAN
        self._url = url
        self.flows: dict[str, FlowPlan | CalledFlow] = {} if flows is None else flows
        self._replies: list[ClaimReply] = []
        self._dropped: Counter[str] = Counter()
        self._seen: set[tuple[str, int, int]] = set()
        self._term = 0
        self._opened: list[SqlExecutions] = []
        self._open()

    def _open(self) -> None:
        self._term += 1
        term = self._term
        self.store = SqlExecutions(ExecutionDatabase(self._url))
        self._opened.append(self.store)
        self.engine = StoredEngine(
            self.store, lambda: term, LANGUAGE, lambda: self.now, flow_of(self.flows)
        )

    def start(self, plan: FlowPlan, execution: str) -> None:
        """Start an execution, or repeat the start of one."""
        self.work(starts=[Execution(execution, plan, {}, self.now)])

    def send(self, execution: str, *inputs: ExecutionInput) -> None:
        """Give inputs to an execution, in their order."""
        self.work([(execution, given) for given in inputs])

    def work(
        self, inputs: Sequence[tuple[str, ExecutionInput]] = (), starts: Sequence[Execution] = ()
    ) -> None:
        """Work a batch in, and note what it says."""
        worked = self.engine.work(inputs, starts)
        self._replies += [one for one in worked.replies if isinstance(one, ClaimReply)]
        self._dropped.update(str(reason) for _, _, reason in worked.dropped)

    def get(self, execution: str) -> Execution:
        """Return an execution as another process reads it."""
        with _another(self._url) as store, store.reading() as rows:
            stored = rows.execution(execution)
        assert stored is not None
        return stored

    def take_calls(self) -> list[StepCall]:
        """Return the calls that are new since the last time."""
        with self.store.reading() as rows:
            calls = rows.calls(_ALL)
        new = [one for one in calls if (one.run, one.attempt, one.check) not in self._seen]
        self._seen.update((one.run, one.attempt, one.check) for one in new)
        return new

    def replies(self) -> list[ClaimReply]:
        """Return every answer to a claim."""
        return self._replies

    def events(self, execution: str) -> list[ExecutionEvent]:
        """Return every event of an execution."""
        with self.store.reading() as rows:
            return list(rows.events(execution, 0, _ALL))

    def dropped(self) -> Counter[str]:
        """Return how many inputs changed nothing, by reason."""
        return self._dropped

    def pass_time(self, by: timedelta) -> None:
        """Let time go on."""
        self.now += by
        while self.engine.tick():
            pass

    def restart(self) -> None:
        """Let another owner begin; the old one does not know of it."""
        self._open()

    def die_before_commit(self, execution: str, *inputs: ExecutionInput) -> int:
        """Write all that comes of them, and roll it back, as the database does for who is gone."""
        with suppress(_Died), self.store.working(self._term) as rows:
            batch = self.engine.batch(rows)
            for given in inputs:
                batch.send(execution, given)
            batch.work()
            rows.store(batch.changes())
            raise _Died
        self._open()
        return 0

    def close(self) -> None:
        """Close every connection."""
        for store in self._opened:
            store.close()

    def unread(self) -> int:
        """Nothing waits: an input is stored with what it changes."""
        return 0

    def leftovers(self) -> dict[str, int]:
        """Return how many rows there are of what lives no longer than its execution."""
        with closing(ExecutionDatabase(self._url)) as database, database.reading() as connection:
            rows = {
                table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
                for table in (CALLS, CLAIMS, GATES)
            }
        return {name: count for name, count in rows.items() if count}


@contextmanager
def _another(url: str) -> Iterator[SqlExecutions]:
    store = SqlExecutions(ExecutionDatabase(url))
    yield store
    store.close()
