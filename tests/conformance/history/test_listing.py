"""What the list of supervisors reads: last publications, and plans that do not look at history."""

import pytest
from sqlalchemy import text

from supervisor.metadata.engine import Bounds, create_engine
from supervisor.metadata.repositories import segments, specs, state_history
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Transaction
from tests.conformance.stories import (
    CLICKS,
    HOUR,
    LEASE_TTL,
    MINUTE,
    NOON,
    P0,
    P1,
    Leader,
    attempt,
    opening,
    publication,
)
from tests.supervisor.core.snapshots import spec

_QUERIES = {
    "present": (specs._PRESENT, ("ix_supervisor_specs_awake", "ix_supervisor_specs_at_rest")),
    "states": (state_history._STATES, ("ix_supervisor_specs_awake", "ix_supervisor_specs_at_rest")),
    "lag": (
        state_history._LAG_ABOUT.params(earliest=NOON - HOUR, latest=NOON),
        ("ix_lag_samples_at",),
    ),
    "published": (segments._LAST_PUBLISHED, ("ix_publications_recent",)),
}


def _publishes(tx: Transaction, number: int) -> None:
    generation, task = f"g{number}", f"t{number}"
    assert tx.generations.open(CLICKS, "table", opening(generation, number, {(P0, P1)[number - 1]: 0}), NOON)
    assert tx.tasks.start(attempt(task, generation))
    tx.segments.add(publication(generation, task, NOON + number * MINUTE), [])


def test_the_last_publication_is_of_the_present_supervisor(leader: Leader) -> None:
    """Goal: what a forgotten supervisor of the same id published is not its own."""
    with leader.writes() as tx:
        for who in (CLICKS, "silent"):
            tx.specs.append(who, spec(), NOON, "")
        assert tx.segments.last_published() == {}
        for number in (1, 2):
            _publishes(tx, number)
        assert tx.segments.last_published() == {CLICKS: NOON + 2 * MINUTE}
        tx.specs.append(CLICKS, None, NOON + HOUR, "")
        assert tx.segments.last_published() == {}, "it is terminated"
        tx.specs.append(CLICKS, spec(), NOON + HOUR, "")
        assert tx.segments.last_published() == {CLICKS: NOON + 2 * MINUTE}, "it came back"
        tx.specs.forget(CLICKS, 3)
        tx.specs.append(CLICKS, spec(), NOON + 2 * HOUR, "")
        assert tx.segments.last_published() == {}, "it was forgotten"


@pytest.mark.parametrize("name", _QUERIES)
@pytest.mark.parametrize("analysed", [False, True], ids=["no statistics", "statistics"])
def test_a_list_does_not_look_at_history(database_url: str, name: str, *, analysed: bool) -> None:
    """Goal: the list costs what is there, not what ever was published, stored or sampled."""
    engine = create_engine(database_url, Bounds.below(LEASE_TTL * 10))
    on_sqlite = engine.dialect.name == "sqlite"
    with engine.connect() as connection:
        connection.execution_options(tidegate_writes=True)
        for statement in _history(on_sqlite=on_sqlite):
            with connection.begin():
                connection.execute(text(statement))
        if analysed and not on_sqlite:
            with connection.begin():
                connection.execute(text("ANALYZE"))
    if analysed and on_sqlite:
        store = SqlStore(database_url, lease_ttl=LEASE_TTL)
        store.optimize()
        store.close()
    query, indexes = _QUERIES[name]
    statement = query.compile(engine, compile_kwargs={"literal_binds": True})
    explain = "EXPLAIN QUERY PLAN" if on_sqlite else "EXPLAIN"
    with engine.connect() as connection, connection.begin():
        rows = connection.exec_driver_sql(f"{explain} {statement}").all()
    engine.dispose()

    plan = "\n".join(str(row) for row in rows)
    for index in indexes:
        assert index in plan, plan


def _history(*, on_sqlite: bool) -> list[str]:
    """Return the statements that store 20,000 old versions, samples and publications."""
    numbers = (
        "WITH RECURSIVE numbers(n) AS "
        "(SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000) "
        if on_sqlite
        else "WITH numbers AS (SELECT generate_series(1, 20000) AS n) "
    )
    at = (
        "strftime('%Y-%m-%d %H:%M:%f000', '2026-01-01', '+' || n || ' seconds')"
        if on_sqlite
        else "CAST('2026-01-01' AS timestamptz) + n * INTERVAL '1 second'"
    )
    some = "CASE WHEN n % 1000 = 0 THEN true ELSE NULL END"
    rests = "CASE WHEN n % 1000 = 1 THEN {} ELSE NULL END".format(at)
    return [
        "INSERT INTO supervisor_specs (supervisor_id, version, created_at, author, awake, "
        f"rests_since) {numbers} SELECT 's' || (n % 2000), n, {at}, '', {some}, {rests} "
        "FROM numbers",
        "INSERT INTO supervisor_states (supervisor_id, state, detailed, why, since) "
        f"{numbers} SELECT 's' || n, 'RUNNING', 'RUNNING', '', {at} FROM numbers",
        "INSERT INTO lag_samples (supervisor_id, at, records, millis) "
        f"{numbers} SELECT 's' || (n % 20), {at}, 0, 0 FROM numbers",
        "INSERT INTO generations (id, supervisor_id, data_source, ordinal, layout_version, "
        "task_count, partition_count, group_number, spec_version, state, opened_at, "
        "timer_started_at, sequence, handoff_why, must_end) "
        f"{numbers} SELECT 'g' || n, 's' || (n % 20), 't', n, 1, 1, 1, 0, 1, 'PUBLISHED', {at}, "
        f"{at}, 0, '', false FROM numbers",
        "INSERT INTO tasks (id, supervisor_id, data_source, generation_id, replica, attempt, "
        "worker_id, incarnation, token, status, created_at, reason, ended_at, taken_up, published) "
        f"{numbers} SELECT 't' || n, 's' || (n % 20), 't', 'g' || n, 0, 1, 'w1', 1, '', 'SUCCESS', "
        f"{at}, '', {at}, false, true FROM numbers",
        "INSERT INTO publications (generation_id, supervisor_id, data_source, task_id, "
        "published_at, start_offsets, end_offsets, rows, rejected, samples) "
        f"{numbers} SELECT 'g' || n, 's' || (n % 20), 't', 't' || n, {at}, '{{}}', '{{}}', 1, 0, "
        "'[]' FROM numbers",
    ]
