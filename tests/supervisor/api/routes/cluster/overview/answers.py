"""Answers of the overview, and their parts."""

from datetime import timedelta

from tests.supervisor.api.world import (
    Json,
    World,
)
from tests.waiting import wait_until

PATH = "/api/v1/overview"
MINUTE = timedelta(minutes=1)


def overview(world: World, query: str = "") -> Json:
    return world.get_object(PATH + query)


def part(whole: Json, name: str) -> Json:
    answered = whole[name]
    assert isinstance(answered, dict)
    return answered


def items(world: World, query: str = "") -> list[Json]:
    answered = overview(world, query)["attention"]
    assert isinstance(answered, list)
    return answered


def part_list(whole: Json) -> list[Json]:
    answered = whole["attention"]
    assert isinstance(answered, list)
    return answered


def awaited(world: World, *kinds: str) -> list[Json]:
    """The items, once they are of these kinds and their beginnings known.

    What follows a pass, such as the row of its state, follows it in a thread.
    """

    def is_there() -> bool:
        answered = items(world)
        return [item["kind"] for item in answered] == [*kinds] and all(i["since"] for i in answered)

    wait_until(is_there)
    return items(world)
