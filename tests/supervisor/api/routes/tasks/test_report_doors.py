"""Where persisters are: a header of the answers to syncs, which no release has to know."""

from dataclasses import replace
from typing import cast

import httpx
from fastapi import FastAPI

from supervisor.services.services import Services
from tasks.contract.messages import SyncResponse
from tasks.contract.report_doors import DOORS_HEADER, doors_of_header, doors_to_header
from tests.supervisor.api.routes.tasks.test_unchanged import synced
from tests.supervisor.api.world import World

DOORS = ("http://persister-1:8092", "http://persister-2:8092")


def _name(world: World, doors: tuple[str, ...]) -> None:
    state = cast("FastAPI", world.client.app).state
    parts: Services = state.parts
    state.parts = replace(parts, report_doors=doors)


def test_each_answer_names_the_persisters_also_a_short_one(world: World) -> None:
    agent, _ = world.start()
    before = synced(agent)
    _name(world, DOORS)
    whole = synced(agent)
    agent.obey(SyncResponse.from_json(whole.content))
    short = synced(agent, "1")
    _name(world, ())
    after = synced(agent)

    assert _doors(before) == _doors(after) == ()
    assert _doors(whole) == _doors(short) == DOORS
    assert before.content == whole.content, "the body says nothing of it"
    assert short.json()["unchanged"]


def _doors(answer: httpx.Response) -> tuple[str, ...]:
    return doors_of_header(answer.headers.get(DOORS_HEADER, ""))


def test_what_is_no_address_is_left_out() -> None:
    header = (
        "http://a:1/, ftp://b, http://c/path, http://u@d, https://e:8092, http://f?x, , http://"
    )

    assert doors_of_header(header) == ("http://a:1", "https://e:8092")
    assert doors_of_header("") == ()
    assert doors_of_header(doors_to_header(DOORS)) == DOORS
