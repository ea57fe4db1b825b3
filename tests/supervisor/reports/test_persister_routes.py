"""The persister's HTTP routes: dead letters, who may call, and what its status says."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.supervisor.reports.desks import TOKEN, a_persister
from tests.supervisor.reports.shelves import NOW

_MINE = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def http(tmp_path: Path) -> Iterator[TestClient]:
    """A persister with three dead letters, of which the first can be stored."""
    with a_persister(tmp_path) as client:
        yield client


def _path(http: TestClient, place: int) -> str:
    """Return the path of a letter, by its place in the list."""
    letter = http.get("/dead-letters", headers=_MINE).json()["letters"][place]
    return f"/dead-letters/{letter['partition']}/{letter['offset']}"


def test_what_letters_hold_and_what_is_done_with_them_needs_the_token(http: TestClient) -> None:
    path = _path(http, 0)
    answers = [
        http.get("/dead-letters"),
        http.get(path),
        http.post(f"{path}/replay"),
        http.delete(path),
    ]
    assert [each.status_code for each in answers] == [401] * 4
    of_the_door = {"Authorization": "Bearer the-key-of-the-door"}
    assert http.get(path, headers=of_the_door).status_code == 401


def test_a_list_goes_on_where_its_answer_says(http: TestClient) -> None:
    first = http.get("/dead-letters?limit=2", headers=_MINE).json()
    rest = http.get(f"/dead-letters?limit=2&after={first['next']}", headers=_MINE).json()

    assert [each["body"] for each in first["letters"]] == ["no json", "\\xff\x00 no text"]
    assert (len(rest["letters"]), rest["next"]) == (1, None)
    assert http.get("/dead-letters?after=x", headers=_MINE).status_code == 422
    assert http.get("/dead-letters?reason=other", headers=_MINE).json()["letters"] == []


def test_verbs_answer_the_letter_with_what_was_done(http: TestClient) -> None:
    good, bad = _path(http, 2), _path(http, 0)
    replayed = http.post(f"{good}/replay?by=ada&reason=upgraded", headers=_MINE).json()
    rejected = http.post(f"{bad}/replay", headers=_MINE).json()
    dropped = http.delete(f"{bad}?by=bob", headers=_MINE).json()

    handled = replayed["handled"]
    assert (handled["outcome"], handled["by"], handled["reason"]) == ("stored", "ada", "upgraded")
    assert rejected["handled"]["outcome"] == "rejected"
    assert rejected["handled"]["detail"]
    assert (dropped["handled"]["outcome"], dropped["handled"]["by"]) == ("dropped", "bob")
    assert len(http.get("/dead-letters", headers=_MINE).json()["letters"]) == 1
    assert len(http.get("/dead-letters?handled=true", headers=_MINE).json()["letters"]) == 3


def test_a_letter_that_is_not_there_is_a_404(http: TestClient) -> None:
    answer = http.post("/dead-letters/20260101/5/replay", headers=_MINE)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_paused_persister_says_when_to_try_again_and_what_to_do(http: TestClient) -> None:
    path = _path(http, 2)
    http.post("/pause", headers=_MINE)
    refused = http.post(f"{path}/replay", headers=_MINE)
    status = http.get("/status").json()

    assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
    assert (status["state"], status["fix"]) == ("STOPPED", "tidegate reports resume")
    assert status["now"] == NOW.isoformat()
