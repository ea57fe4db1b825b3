"""The lag of several supervisors in one answer: steps, foreign ones, bad input, what it costs."""

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from supervisor.core.history.lag import Lag
from supervisor.core.values.permissions import Role
from tests.supervisor.api.guarded import FOREIGN, OWN, a_guarded_world, grants_of
from tests.supervisor.api.world import SUPERVISORS, Json, World, spec_document

PATH = "/api/v1/lag"
MINUTE = timedelta(minutes=1)


def sampled(world: World, *names: str, minutes: int = 40) -> None:
    """Store a sample of each supervisor a minute, until now: 0, 1, 2 ... records behind."""
    now = world.clock.now()
    for minute in range(minutes):
        lag = {name: Lag(minute, minute * MINUTE) for name in names}
        with world.store.leading(world.leadership.term()) as tx:
            tx.watched.add_lag(now - (minutes - minute) * MINUTE, lag, now - timedelta(days=1))


def lags(world: World, query: str) -> dict[str, Json]:
    found = world.get_object(f"{PATH}?{query}")["lag"]
    assert isinstance(found, dict)
    return found


def test_the_worst_of_each_step_is_shown_and_who_has_no_sample_is_left_out(world: World) -> None:
    sampled(world, "a", "b")

    by_id = lags(world, "id=a&id=b&id=never&step=PT10M")

    assert by_id.keys() == {"a", "b"}
    assert by_id["a"] == by_id["b"]
    series = by_id["a"]
    records, moments = series["records"], series["at"]
    assert isinstance(records, list)
    assert isinstance(moments, list)
    assert len(moments) == len(records)
    assert records[-1] == 39
    assert series["millis"] == [n * 60_000 for n in records]


def test_it_is_the_answer_of_one_supervisor_by_itself(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    sampled(world, "clicks")

    series = lags(world, "id=clicks&step=PT5M")["clicks"]

    alone = world.get_object("/api/v1/supervisors/clicks/lag?step=PT5M")["samples"]
    assert isinstance(alone, list)
    for member in ("at", "records", "millis"):
        assert series[member] == [each[member] for each in alone]


def test_a_window_bounds_what_is_read(world: World) -> None:
    sampled(world, "a")
    begin = (world.clock.now() - 10 * MINUTE).strftime("%Y-%m-%dT%H:%M:%SZ")
    end = (world.clock.now() - 5 * MINUTE).strftime("%Y-%m-%dT%H:%M:%SZ")

    found = lags(world, f"id=a&step=PT1M&from={begin}&to={end}")

    assert found["a"]["records"] == [30, 31, 32, 33, 34]


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("step=PT15M", "/query/id"),
        ("id=&step=PT15M", "/query/id"),
        ("id=a&step=PT10S", "/query/step"),
        ("id=a&step=PT90.5S", "/query/step"),
        ("id=a&step=PT1M", "/query/step"),
        ("id=a&step=x", "/query/step"),
        ("id=a&from=2026-01-05T12:00:00", "/query/from"),
        ("id=a&from=2026-01-05T12:00:00Z&to=2026-01-05T11:00:00Z", "/query/to"),
        ("&".join(f"id={n}" for n in range(201)), "/query/id"),
    ],
)
def test_bad_input_is_a_problem_that_names_its_place(world: World, query: str, place: str) -> None:
    problem = world.get_object(f"{PATH}?{query}", status=400)
    errors = problem["errors"]
    assert isinstance(errors, list)
    assert any(str(each["pointer"]).startswith(place) for each in errors), errors
    assert problem["title"]


def test_what_the_client_has_is_not_sent_again(world: World) -> None:
    sampled(world, "a")
    query = f"{PATH}?id=a&from=2020-01-01T00:00:00Z&step=P30D"
    tag = world.client.get(query).headers["etag"]
    again = world.client.get(query, headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")


def test_many_cost_the_statements_of_one(world: World) -> None:
    names = [f"s{number:03}" for number in range(200)]
    sampled(world, *names, minutes=3)
    assert statements(world, names[:1]) == statements(world, names)
    assert len(statements(world, names)) == 1


def statements(world: World, names: list[str]) -> list[str]:
    """Collect what one answer asks of the tables of history; passes run meanwhile."""
    collected: list[str] = []

    def executed(_: Connection, __: object, statement: str, *___: object) -> None:
        if "lag_samples" in statement:
            collected.append(statement.partition("IN (")[0])

    event.listen(world.store._engine, "before_cursor_execute", executed)
    assert len(lags(world, "&".join(f"id={name}" for name in names))) == len(names)
    event.remove(world.store._engine, "before_cursor_execute", executed)
    return collected


def test_a_follower_answers_from_the_rows(follower: World) -> None:
    assert lags(follower, "id=clicks") == {}


def test_foreign_supervisors_are_as_those_that_are_not_there(
    tmp_path: Path, migrated: Path
) -> None:
    with a_guarded_world(tmp_path, migrated) as guarded:
        admin = guarded.token("admin", *grants_of(Role.ADMIN, "*"))
        viewer = guarded.token("viewer", *grants_of(Role.VIEWER, OWN))
        for table in (OWN, FOREIGN):
            guarded.world.streams.create(table, 1)
            document = spec_document(task_count=1, replicas=1, topic=table)
            document["spec"]["dataSchema"]["dataSource"] = table  # type: ignore[index]
            assert guarded.ask("POST", SUPERVISORS, admin, document).status_code == 200
        sampled(guarded.world, OWN, FOREIGN, "never")
        query = f"{PATH}?id={OWN}&id={FOREIGN}&id=never"

        assert guarded.ask("GET", query, viewer).json()["lag"].keys() == {OWN}
        assert guarded.ask("GET", query, admin).json()["lag"].keys() == {OWN, FOREIGN, "never"}
        assert guarded.ask("GET", query, None).status_code == 401
