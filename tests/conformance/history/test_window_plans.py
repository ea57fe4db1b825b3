"""Windows of the history look at what they name: the planner takes the indexes made for it."""

import pytest
from sqlalchemy import Select, select, text

from supervisor.core.history.lifecycle_events import EventKind
from supervisor.core.history.windows import RangeWindow
from supervisor.core.model.rows import GenerationState
from supervisor.database.engine import Bounds, create_engine
from supervisor.metadata.schema.generation_rows import ids_within
from supervisor.metadata.schema.history import happenings, operations, plans
from tests.conformance.stories import LEASE_TTL, NOON

_WINDOW = RangeWindow(0, frozenset({GenerationState.DISCARDED}), NOON, NOON)
_EVENTS = happenings.c
_RANGES: Select[str] = ids_within("s", _WINDOW, (20_000, 10), 50)
_OF_ONE = (
    select(_EVENTS.number)
    .where(_EVENTS.number < 20_000, _EVENTS.number > 10, _EVENTS.supervisor_id == "s")
    .where(_EVENTS.at >= NOON)
    .order_by(_EVENTS.number.desc())
    .limit(50)
)
_PLANS = (
    select(plans.c.id)
    .where(plans.c.supervisor_id == "s", plans.c.id < 100, plans.c.at < NOON)
    .order_by(plans.c.id.desc())
    .limit(50)
)
_STORED = select(operations.c.number).where(
    operations.c.supervisor_id == "s", operations.c.spec_version.in_([1, 2])
)
_EVERYONES = (
    select(_EVENTS.number)
    .where(
        _EVENTS.number < 20_000, _EVENTS.number > 10, _EVENTS.kind.in_([EventKind.STATE_CHANGED])
    )
    .order_by(_EVENTS.number.desc())
    .limit(50)
)


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (_RANGES, {"ordinal"}),
        (_OF_ONE, {"ix_happenings_supervisor_id_number"}),
        (_EVERYONES, {"pk_happenings", "happenings_pkey", "INTEGER PRIMARY KEY"}),
        (_PLANS, {"ix_plans_supervisor_id_id"}),
        (_STORED, {"ix_operations_supervisor_id_number"}),
    ],
    ids=["ranges", "events of one", "events of all", "plans", "operations"],
)
def test_a_window_is_read_by_an_index(
    database_url: str, query: Select[*tuple[object, ...]], index: set[str]
) -> None:
    """Goal: a page costs what it looks at, and not what the history has."""
    engine = create_engine(database_url, Bounds.below(LEASE_TTL * 10))
    statement = query.compile(engine, compile_kwargs={"literal_binds": True})
    on_sqlite = engine.dialect.name == "sqlite"
    with engine.connect() as connection, connection.begin():
        if not on_sqlite:
            connection.execute(text("SET LOCAL enable_seqscan = off"))  # the tables are empty
        explain = "EXPLAIN QUERY PLAN" if on_sqlite else "EXPLAIN"
        lines = connection.exec_driver_sql(f"{explain} {statement}").all()
    engine.dispose()
    plan = "\n".join(str(line) for line in lines)

    assert any(name in plan for name in index), plan
    assert "TEMP B-TREE" not in plan
