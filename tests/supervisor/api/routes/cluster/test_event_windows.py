"""Events of some types and of a time, as a list and as a stream."""

from datetime import timedelta
from urllib.parse import quote

import pytest

from supervisor.core.history import windows
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World

PATH = "/api/v1/events"
MINUTE = timedelta(minutes=1)


def events(world: World, query: str = "", limit: int = 2) -> list[Json]:
    """Every event of all pages."""
    every: list[Json] = []
    cursor = ""
    while True:
        page = world.get_object(f"{PATH}?limit={limit}{query}{cursor}")
        every += page["events"]  # type: ignore[arg-type]
        if page["next"] is None:
            return every
        cursor = f"&cursor={page['next']}"


def lived(world: World) -> str:
    """A supervisor that began, and was suspended a minute later; returns a time in between."""
    world.start()
    world.clock.advance(MINUTE)
    between = quote(world.clock.now().isoformat())
    world.clock.advance(MINUTE)
    assert world.post(f"{SUPERVISORS}/{TOPIC}/suspend").status_code == 200
    world.settle()
    return between


def test_only_events_of_the_types_are_listed(world: World) -> None:
    lived(world)
    every = events(world)
    wanted = {"supervisor-suspended", "generation-opened"}

    listed = events(world, "&type=supervisor-suspended&type=generation-opened")

    assert listed == [event for event in every if event["type"] in wanted]
    assert {event["type"] for event in listed} == wanted
    assert events(world, "&type=replicas-diverged") == []


def test_only_events_of_the_time_are_listed(world: World) -> None:
    between = lived(world)
    every = events(world)

    later, earlier = events(world, f"&from={between}"), events(world, f"&to={between}")

    assert later + earlier == every
    assert "supervisor-suspended" in {event["type"] for event in later}
    assert "supervisor-created" in {event["type"] for event in earlier}
    both = events(world, f"&from={between}&type=task-started&supervisor={TOPIC}")
    assert both == [event for event in later if event["type"] == "task-started"]


def test_a_page_looks_at_a_bounded_number_and_the_next_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: what matches is found behind pages without a match, and each once."""
    lived(world)
    every = events(world)
    monkeypatch.setattr(windows, "SCANNED_MAX", 2)

    first = world.get_object(f"{PATH}?type=supervisor-created")

    assert first["events"] == []
    assert first["next"] is not None
    assert events(world, "&type=supervisor-created") == [every[-1]]


@pytest.mark.parametrize("path", [PATH, f"{PATH}/stream"])
@pytest.mark.parametrize("word", ["unknown", "no-such-type"])
def test_a_type_that_is_none_is_refused(world: World, path: str, word: str) -> None:
    answer = world.client.get(f"{path}?type={word}")
    assert answer.status_code == 400
    [error] = answer.json()["errors"]
    assert error["pointer"].startswith("/query/type")
    assert error["hint"]


@pytest.mark.parametrize("query", ["from=2026-01-05T12:00:00", "to=x"])
def test_a_time_without_a_zone_is_refused(world: World, query: str) -> None:
    answer = world.client.get(f"{PATH}?{query}")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == f"/query/{query.partition('=')[0]}"
