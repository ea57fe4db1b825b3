"""For whom a step is called: one cheap read, however many task runs its execution has."""

from contextlib import closing

from sqlalchemy import event

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.store import SqlExecutions
from supervisor.core.executions.reduced import StepCall
from supervisor.services.steps.owners import FlowOwners
from tests.supervisor.services.steps.driver import AUTHOR, Driver

_FEW, _MANY = 3, 300


def _cost(driver: Driver, execution: str) -> tuple[int, int]:
    """Return how many statements and how many of SQLite's steps a look at the owner takes.

    A step is about one column of one row, so that rows that are read count.
    """
    statements, steps = [0], [0]

    def step() -> int:
        steps[0] += 1
        return 0

    world = driver.world
    database = ExecutionDatabase(f"sqlite:///{world.database.with_name('executions.db')}")
    with closing(SqlExecutions(database)) as store:  # it remembers no execution
        with store.reading() as rows:  # the first use of a database looks at its schema
            assert rows.author_of("none") is None

        def count(_: object, cursor: object, *__: object) -> None:
            statements[0] += 1
            cursor.connection.set_progress_handler(step, 1)  # type: ignore[attr-defined]

        event.listen(database._engine, "before_cursor_execute", count)
        owners = FlowOwners(store, driver.parts.store, world.clock, asks=False)
        owner, _ = owners.of(StepCall(execution, "r", "one", 1, 1, "suspend", {}))
    assert owner.name == AUTHOR
    return statements[0], steps[0]


def test_the_owner_of_a_call_costs_the_same_for_few_items_and_many(driver: Driver) -> None:
    """Goal: a `forEach` of many calls must not read all of them for each."""

    def started(items: int) -> str:
        one = {"name": "one", "type": "noop"}
        each = {"type": "forEach", "items": list(range(items)), "steps": [one]}
        return driver.start({**each, "concurrency": items})

    few, many = _cost(driver, started(_FEW)), _cost(driver, started(_MANY))
    assert few == many
    assert few[1] > 0
