"""A `forEach` of many items: what is written for each of them does not grow with their number."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, event

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.plan import EachWork, FlowPlan, Step
from supervisor.core.executions.states import ExecutionState
from tests.conformance.executions.test_stored_engine import Served
from tests.supervisor.core.crashes.scenarios.stored import Stored
from tests.supervisor.core.crashes.world.world import BEGAN
from tests.supervisor.core.executions.world import call

_FEW, _MANY = 40, 400


@contextmanager
def _written(stored: Stored) -> Iterator[list[int]]:
    """Collect the bytes that each statement which is no SELECT brings along."""
    sizes: list[int] = []

    def executed(_: Connection, __: object, statement: str, values: object, *___: object) -> None:
        if not statement.startswith("SELECT"):
            sizes.append(_size(values))

    engine = stored.store._database._engine
    event.listen(engine, "before_cursor_execute", executed)
    yield sizes
    event.remove(engine, "before_cursor_execute", executed)


def _size(values: object) -> int:
    match values:
        case str():
            return len(values.encode())
        case dict():
            return sum(map(_size, values.values()))
        case list() | tuple():
            return sum(map(_size, values))
        case _:
            return 8


def _bytes_per_item(stored: Stored, items: int, at_once: int) -> float:
    days: list[object] = [f"item {number}" for number in range(items)]
    each = EachWork(list(map(str, days)), (call("one"),), at_once)
    execution = f"e-{items}-{at_once}"
    with _written(stored) as sizes:
        plan = FlowPlan("f", 1, (Step("all", each),))
        stored.engine.work(starts=[Execution(execution, plan, {}, BEGAN)])
        served = Served(stored.engine)
        orders = served.serve(free=4)
        while orders.begin:
            orders = served.serve(*orders.begin, free=4)
    assert stored.get(execution).state is ExecutionState.SUCCESS
    return sum(sizes) / items


def test_ten_times_the_items_write_ten_times_the_bytes(stored: Stored) -> None:
    """Goal: at most 1.25 times the bytes per item, a few at a time and all at once."""
    for few, many in ((4, 4), (_FEW, _MANY)):
        one, other = _bytes_per_item(stored, _FEW, few), _bytes_per_item(stored, _MANY, many)
        assert other <= 1.25 * one, (one, other)
