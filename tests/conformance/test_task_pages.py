"""Tasks page by page: each condition, alone and with others, on each database."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from supervisor.core.model.rows import Task, TaskStatus
from supervisor.core.model.task_query import TaskPlace, TaskQuery
from supervisor.metadata.repositories import tasks as repository
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Store
from tests.conformance.stories import NOON, P0, P1, Leader, attempt, opening, take_lease

SECOND = timedelta(seconds=1)
RANGES = {"clicks:1": ("clicks", 0), "clicks:2": ("clicks", 1), "views:1": ("views", 0)}


@pytest.fixture
def leader(store: Store) -> Leader:
    """Twelve tasks, four of each range, two of each second; every second one has failed."""
    first = Leader(store, take_lease(store))
    with first.writes() as tx:
        for generation, (name, group) in RANGES.items():
            ordinal = int(generation[-1])
            action = replace(opening(generation, ordinal, {(P0, P1)[group]: 0}), group=group)
            tx.generations.open(name, f"{name}_table", action, NOON)
        for number in range(12):
            task = _task(number)
            assert tx.tasks.start(task)
            if number % 2:
                lost = number % 4 == 1
                at = task.created_at + SECOND
                tx.tasks.end(task.id, TaskStatus.FAILED, f"100% of {number}", at, lost=lost)
    return first


def _task(number: int) -> Task:
    generation = list(RANGES)[number % 3]
    name, _ = RANGES[generation]
    return replace(
        attempt(f"t{number:02}", generation, replica=number),
        supervisor_id=name,
        data_source=f"{name}_table",
        worker_id=f"W-{number % 5}",
        created_at=NOON + number // 2 * SECOND,
    )


def _numbers(leader: Leader, wanted: TaskQuery, limit: int = 100) -> list[int]:
    """Read all pages, and return the numbers of the tasks."""
    numbers: list[int] = []
    place: TaskPlace | None = None
    for _ in range(100):
        with leader.reads() as tx:
            page = tx.tasks.page(wanted, limit, place)
        assert len(page.tasks) <= limit
        numbers += [int(task.id[1:]) for task in page.tasks]
        place = page.following
        if place is None:
            return numbers
    raise AssertionError("the pages do not end")


@pytest.mark.parametrize("limit", [1, 2, 5, 12, 100])
def test_pages_of_any_size_show_each_task_once_newest_first(leader: Leader, limit: int) -> None:
    assert _numbers(leader, TaskQuery(), limit) == list(range(11, -1, -1))


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        (TaskQuery(supervisor_id="views"), [11, 8, 5, 2]),
        (TaskQuery(generation_id="clicks:2"), [10, 7, 4, 1]),
        (TaskQuery(group=1), [10, 7, 4, 1]),
        (TaskQuery(supervisor_id="clicks", group=0), [9, 6, 3, 0]),
        (TaskQuery(worker_id="W-3"), [8, 3]),
        (TaskQuery(status=TaskStatus.FAILED), [11, 9, 7, 5, 3, 1]),
        (TaskQuery(status=TaskStatus.RUNNING), [10, 8, 6, 4, 2, 0]),
        (TaskQuery(status=TaskStatus.SUCCESS), []),
        (TaskQuery(status=TaskStatus.UNKNOWN), []),
        (TaskQuery(own_failure=True), [11, 7, 3]),
        (TaskQuery(own_failure=True, supervisor_id="clicks"), [7, 3]),
        (TaskQuery(own_failure=True, status=TaskStatus.RUNNING), []),
        (TaskQuery(own_failure=True, status=TaskStatus.UNKNOWN), []),
        (TaskQuery(text="T1"), [11, 10]),
        (TaskQuery(text="w-4"), [9, 4]),
        (TaskQuery(text="100% OF"), [11, 9, 7, 5, 3, 1]),
        (TaskQuery(text="0%"), [11, 9, 7, 5, 3, 1]),
        (TaskQuery(text="t_1"), []),
        (TaskQuery(supervisor_id="nobody"), []),
    ],
    ids=str,
)
def test_each_condition_holds(leader: Leader, wanted: TaskQuery, numbers: list[int]) -> None:
    assert _numbers(leader, wanted) == numbers
    assert _numbers(leader, wanted, 1) == numbers


@pytest.mark.parametrize(
    ("patterns", "numbers"),
    [
        ((), []),
        (("*",), list(range(11, -1, -1))),
        (("views_table",), [11, 8, 5, 2]),
        (("v*e",), [11, 8, 5, 2]),
        (("*_table",), list(range(11, -1, -1))),
        (("VIEWS*",), []),
        (("views%",), []),
        (("viewsXtable",), []),
        (("view__table",), []),
        (("none", "*iew*"), [11, 8, 5, 2]),
    ],
    ids=str,
)
def test_only_tables_that_a_pattern_covers_are_shown(
    leader: Leader, patterns: tuple[str, ...], numbers: list[int]
) -> None:
    """Goal: authorization is part of the query, and means what it means elsewhere."""
    assert _numbers(leader, TaskQuery(tables=patterns)) == numbers


def test_pages_stay_where_they_are_while_tasks_begin_and_end(leader: Leader) -> None:
    """Goal: whoever reads on meets each task once, whatever happens between two pages."""
    numbers: list[str] = []
    place: TaskPlace | None = None
    for turn in range(100):
        with leader.reads() as tx:
            page = tx.tasks.page(TaskQuery(), 2, place)
        numbers += [task.id for task in page.tasks]
        place = page.following
        if place is None:
            break
        with leader.writes() as tx:
            at = NOON + (100 + turn) * SECOND
            tx.tasks.end(f"t{2 * turn:02}", TaskStatus.SUCCESS, "", at)
            assert tx.tasks.start(replace(_task(20 + turn), created_at=at))

    assert numbers == [f"t{number:02}" for number in range(11, -1, -1)]


def test_a_page_of_a_status_shows_once_what_keeps_it(leader: Leader) -> None:
    wanted = TaskQuery(status=TaskStatus.RUNNING)
    with leader.reads() as tx:
        first = tx.tasks.page(wanted, 2)
    with leader.writes() as tx:
        for ended in ("t10", "t06"):  # one of the page before, one of a page to come
            tx.tasks.end(ended, TaskStatus.SUCCESS, "", NOON + 100 * SECOND)

    with leader.reads() as tx:
        second = tx.tasks.page(wanted, 2, first.following)

    assert [task.id for task in (*first.tasks, *second.tasks)] == ["t10", "t08", "t04", "t02"]


def test_a_secret_that_an_earlier_release_stored_is_not_found_by_its_parts(
    leader: Leader, database: SqlStore
) -> None:
    unmasked = text("UPDATE tasks SET reason = 'failed: password=hunter2' WHERE id = 't03'")
    with database._engine.connect() as connection:
        connection.execution_options(tidegate_writes=True)
        with connection.begin():
            connection.execute(unmasked)

    assert _numbers(leader, TaskQuery(text="failed: password")) == [3]
    assert _numbers(leader, TaskQuery(text="hunter2")) == []
    assert _numbers(leader, TaskQuery(text="hunt"), 1) == []


@pytest.mark.parametrize("looked_at", [3, 5, 12, 13])
def test_what_one_look_does_not_reach_the_next_page_does(
    leader: Leader, looked_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a rare task in a long history is found, a bounded look at a time."""
    monkeypatch.setattr(repository, "LOOKED_AT", looked_at)

    assert _numbers(leader, TaskQuery(text="t00")) == [0]
    assert _numbers(leader, TaskQuery(worker_id="W-3"), 1) == [8, 3]
    assert _numbers(leader, TaskQuery(tables=("views*",)), 3) == [11, 8, 5, 2]


def test_a_place_names_no_task_that_was_not_shown(
    leader: Leader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a cursor tells nobody the id of a task of a foreign table."""
    monkeypatch.setattr(repository, "LOOKED_AT", 3)
    places: list[str] = []
    place: TaskPlace | None = None
    while True:
        with leader.reads() as tx:
            page = tx.tasks.page(TaskQuery(tables=("views*",)), 1, place)
        place = page.following
        if place is None:
            break
        places.append(place.task_id)

    assert set(places) <= {"~", "t11", "t08", "t05", "t02"}
