"""Dead letters through an overlord: real routes of persisters behind it, roles, and the audit."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from supervisor.reports.watch import PersisterWatch
from supervisor.services.services import Services
from tests.supervisor.api.world import World
from tests.supervisor.reports.desks import DesksHere, PersistersHere, a_persister

_LETTERS, _URL, _OTHER = "/api/v1/dead-letters", "http://p-1:8092", "http://p-2:8092"


@pytest.fixture
def persister(tmp_path: Path) -> Iterator[TestClient]:
    """A persister with three dead letters, of which the oldest can be stored."""
    folder = tmp_path / "persister"
    folder.mkdir()
    with a_persister(folder) as client:
        yield client


def _knows(world: World, desks: DesksHere, urls: list[str]) -> PersisterWatch:
    """Let the overlord know persisters, which it has not looked at yet."""
    app = world.client.app
    assert isinstance(app, FastAPI)
    parts: Services = app.state.parts
    watch = PersisterWatch(world.clock, PersistersHere(set(desks.by_url)), urls)
    letters = replace(parts.letters, desks=desks, watch=watch)
    app.state.parts = replace(parts, letters=letters)
    return watch


def _page(world: World, **params: str | int) -> dict[str, Any]:
    answer = world.client.get(_LETTERS, params=params)
    assert answer.status_code == 200, answer.text
    page: dict[str, Any] = answer.json()
    return page


def _path(letter: dict[str, Any]) -> str:
    return f"{_LETTERS}/{letter['partition']}/{letter['offset']}"


def test_an_overlord_lists_the_letters_of_a_persister_that_answers(
    world: World, persister: TestClient
) -> None:
    """Goal: the silent one is asked first, as long as nobody has looked at it."""
    watch = _knows(world, DesksHere({_OTHER: persister}), [_URL, _OTHER])
    first = _page(world, limit=2)
    watch.run_once()
    rest = _page(world, limit=2, after=first["next"], persister=_OTHER)

    assert [each["body"] for each in first["letters"]] == ["no json", "\\xff\x00 no text"]
    assert first["persister"] == _OTHER
    assert (len(rest["letters"]), rest["next"]) == (1, None)
    assert _page(world, about="another reason")["letters"] == []
    shown = world.client.get(_path(first["letters"][0])).json()
    assert (shown["reason"], shown["handled"]) == ("unknown version", None)


def test_verbs_are_done_by_the_persister_in_the_callers_name_and_audited(
    world: World, persister: TestClient
) -> None:
    _knows(world, DesksHere({_URL: persister}), [_URL])
    bad, _, good = _page(world)["letters"]
    mine = {"X-Druid-Author": "ada"}
    replayed = world.client.post(
        f"{_path(good)}/replay?reason=upgraded&sha256={good['sha256']}", headers=mine
    ).json()
    dropped = world.client.delete(f"{_path(bad)}?reason=a+test", headers=mine).json()

    handled = replayed["handled"]
    assert (handled["outcome"], handled["by"], handled["reason"]) == ("stored", "ada", "upgraded")
    assert (dropped["handled"]["outcome"], dropped["handled"]["reason"]) == ("dropped", "a test")
    assert len(_page(world)["letters"]) == 1
    assert len(_page(world, handled="true")["letters"]) == 3
    entries = [
        each
        for each in world.client.get("/api/v1/audit").json()["entries"]
        if each["action"].endswith("-letter")
    ]
    assert {(each["action"], each["actor"], each["reason"]) for each in entries} == {
        ("replay-letter", "ada", "upgraded"),
        ("drop-letter", "ada", "a test"),
    }
    assert {each["detail"]["persister"] for each in entries} == {_URL}


def test_a_letter_that_is_another_one_now_or_gone_is_left_alone(
    world: World, persister: TestClient
) -> None:
    _knows(world, DesksHere({_URL: persister}), [_URL])
    [letter, *_] = _page(world)["letters"]
    changed = world.client.delete(f"{_path(letter)}?sha256={'0' * 64}")
    gone = world.client.post(f"{_LETTERS}/20260101/5/replay")

    assert (changed.status_code, changed.json()["type"]) == (409, "/problems/letter-changed")
    assert (gone.status_code, gone.json()["type"]) == (404, "/problems/letter-not-found")
    assert len(_page(world)["letters"]) == 3


@pytest.mark.parametrize(
    ("urls", "token", "words"),
    [
        ([_OTHER], "", f"no persister answers: {_OTHER}: connection refused"),
        ([_URL], "another", "give both the same TIDEGATE_TOKEN"),
    ],
)
def test_an_overlord_says_why_no_persister_does_it(
    world: World, persister: TestClient, urls: list[str], token: str, words: str
) -> None:
    _knows(world, DesksHere({_URL: persister}, token), urls)
    answer = world.client.get(_LETTERS)
    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/persister-unavailable")
    assert words in answer.json()["detail"]


def test_a_persister_that_is_paused_or_unknown_is_said(world: World, persister: TestClient) -> None:
    nobody = world.client.get(_LETTERS)
    _knows(world, DesksHere({_URL: persister}), [_URL])
    [letter, *_] = _page(world)["letters"]
    persister.post("/pause", headers={"Authorization": "Bearer a-token-for-tests"})
    paused = world.client.post(f"{_path(letter)}/replay")
    foreign = world.client.get(f"{_LETTERS}?persister=http://elsewhere")

    assert (nobody.status_code, nobody.json()["type"]) == (404, "/problems/no-report-store")
    assert "TIDEGATE_REPORTS_PERSISTER" in nobody.json()["detail"]
    assert (paused.status_code, foreign.status_code) == (503, 400)
    assert foreign.json()["type"] == "/problems/persister-unknown"
