"""What is asked every second does not look at history: the planner takes the index made for it."""

from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import Select

from supervisor.core.tables.totals import TimeWindow
from supervisor.metadata.repositories import operations, specs, state_history, tasks
from supervisor.metadata.schema import segment_rows, table_totals
from tests.conformance.metadata.query_plans import plan_of
from tests.conformance.stories import HOUR, NOON

_MOST = 20_000
_GENERATIONS = """
INSERT INTO generations (id, supervisor_id, data_source, ordinal, layout_version, task_count,
  partition_count, group_number, spec_version, state, opened_at, timer_started_at, sequence,
  handoff_why, must_end)
{numbers} SELECT 'g' || n, 's' || n % 20, 't', n, 1, 1, 1, 0, 1, 'PUBLISHED', {at}, {at}, 0, '',
  false FROM numbers
"""
_TASKS = """
INSERT INTO tasks (id, supervisor_id, data_source, generation_id, replica, attempt, worker_id,
  incarnation, token, status, created_at, reason, ended_at, taken_up, published)
{numbers} SELECT 't' || n, 's' || n % 20, 't', 'g' || n, 0, 1, 'w1', 1, 'token',
  CASE WHEN n % 1000 = 0 THEN 'RUNNING' ELSE 'SUCCESS' END, {at}, '',
  CASE WHEN n % 1000 = 0 THEN NULL ELSE {at} END, false, false
FROM numbers
"""
_PUBLICATIONS = """
INSERT INTO publications (generation_id, supervisor_id, data_source, task_id, published_at,
  start_offsets, end_offsets, rows, rejected, samples)
{numbers} SELECT 'g' || n, 's' || n % 20, 't', 't' || n, {at}, '{{}}', '{{}}', 1, 0, '[]'
FROM numbers
"""
_DIVERGED = """
UPDATE publications SET diverged = '[]' WHERE published_at IN
(SELECT published_at FROM publications ORDER BY published_at LIMIT 20)
"""
_VERSIONS = """
INSERT INTO supervisor_specs (supervisor_id, version, created_at, author, awake, rests_since)
{numbers} SELECT 's' || n % 2000, n, {at}, '', CASE WHEN n % 1000 = 0 THEN true ELSE NULL END,
  CASE WHEN n % 1000 = 1 THEN {at} ELSE NULL END
FROM numbers
"""
_STATES = """
INSERT INTO supervisor_states (supervisor_id, state, detailed, why, since)
{numbers} SELECT 's' || n, 'RUNNING', 'RUNNING', '', {at} FROM numbers
"""
_SAMPLES = """
INSERT INTO lag_samples (supervisor_id, at, records, millis)
{numbers} SELECT 's' || n % 20, {at}, 0, 0 FROM numbers
"""
_OPERATIONS = """
INSERT INTO operations (supervisor_id, kind, asked_by, at, ranges, disturbs)
{numbers} SELECT 's' || n % 500, 'suspend', '', {at}, '[]', true FROM numbers
"""
_SEGMENTS = """
INSERT INTO segments (id, data_source, supervisor_id, generation_id, task_id, published_at, path,
  interval_start, interval_end, rows, size_bytes, sha256, time_min, time_max)
{numbers} SELECT 's' || n, 't' || n % 200, 's', 'g' || n, 't' || n, {at}, 'p' || n, {at}, {at}, 1,
  1, '', {at}, {at} FROM numbers
"""
_PRESENT = ("ix_supervisor_specs_awake", "ix_supervisor_specs_at_rest")


@dataclass(frozen=True)
class Found:
    """What is found, among which rows, and by which indexes."""

    query: Select[*tuple[Any, ...]]
    history: tuple[str, ...]
    indexes: tuple[str, ...]


_TASKS_OF_WORKER = Found(
    tasks._ACTIVE_OF[False, True].params(of_worker="w1"),
    (_GENERATIONS, _TASKS),
    ("ix_tasks_of_worker",),
)
_FOUND = {
    "the tasks of a worker": _TASKS_OF_WORKER,
    "the present versions": Found(specs._PRESENT, (_VERSIONS,), _PRESENT),
    "the present states": Found(state_history._STATES, (_VERSIONS, _STATES), _PRESENT),
    "the lag some time ago": Found(
        state_history._LAG_ABOUT.params(earliest=NOON - HOUR, latest=NOON),
        (_SAMPLES,),
        ("ix_lag_samples_at",),
    ),
    "the timeline of a table": Found(
        table_totals.timeline_query(
            "t3", TimeWindow(HOUR, NOON - 2_000 * HOUR, NOON, 10, 10, limit=400)
        ),
        (_GENERATIONS, _TASKS, _PUBLICATIONS, _SEGMENTS),
        ("ix_segments_data_source_interval",),
    ),
    "the lag of several, step by step": Found(
        state_history.LAG_STEPPED.params(
            ids=["s0", "s1"], earliest=NOON - 2_000 * HOUR, latest=NOON, step_s=900
        ),
        (_SAMPLES,),
        ("{lag_samples}",),
    ),
    "the newest operations": Found(
        operations.NEWEST_OF.params(ids=["s0", "s1"]),
        (_OPERATIONS,),
        ("ix_operations_supervisor_id_number",),
    ),
    "the last publications": Found(
        segment_rows.LAST_PUBLISHED,
        (_VERSIONS, _GENERATIONS, _TASKS, _PUBLICATIONS),
        (*_PRESENT, "ix_publications_recent"),
    ),
    "the ranges whose replicas differ": Found(
        segment_rows.LATELY_DIVERGED.params(since=NOON - HOUR),
        (_GENERATIONS, _TASKS, _PUBLICATIONS, _DIVERGED),
        ("ix_publications_diverged",),
    ),
}


@pytest.mark.parametrize("name", _FOUND)
def test_what_is_there_is_found_without_what_is_over(database_url: str, name: str) -> None:
    """Goal: a sync costs what its worker runs, and a list what is there, not what ever was."""
    _takes_its_indexes(database_url, _FOUND[name], analysed=True)


@pytest.mark.parametrize("name", _FOUND)
def test_so_it_is_on_sqlite_before_there_are_statistics(sqlite_url: str, name: str) -> None:
    """Goal: they come once a day, and rows long before."""
    _takes_its_indexes(sqlite_url, _FOUND[name], analysed=False)


@pytest.mark.pg
def test_the_tasks_of_a_worker_are_found_on_postgresql_before_there_are_statistics(
    postgresql_url: str,
) -> None:
    """Goal: each worker asks each second, also in the minute before the first ones."""
    _takes_its_indexes(postgresql_url, _TASKS_OF_WORKER, analysed=False)


def _takes_its_indexes(database_url: str, found: Found, *, analysed: bool) -> None:
    plan = plan_of(database_url, found.query, found.history, most=_MOST, analysed=analysed)
    named = [index.format(**_primary(database_url)) for index in found.indexes]
    assert [index for index in named if index not in plan] == [], plan


def _primary(database_url: str) -> dict[str, str]:
    """Return table -> the name of its primary key's index."""
    on_sqlite = database_url.startswith("sqlite")
    return {"lag_samples": "sqlite_autoindex_lag_samples_1" if on_sqlite else "pk_lag_samples"}
