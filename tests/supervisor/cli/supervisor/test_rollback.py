"""`tidegate supervisor rollback`."""

import json

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply, Request

BASE = "/druid/indexer/v1/supervisor"
ROLLBACK = "/api/v1/supervisors/clicks/rollback"
CHANGE = {"field": "/spec/ioConfig/replicas", "from": 2, "to": 1, "effect": "hot"}
DONE = {"id": "clicks", "modified": True, "version": 5, "to": 3, "changes": [CHANGE]}


def row(number: int, kind: str = "kafka") -> dict[str, object]:
    """One row of a history."""
    return {"version": f"t{number}", "versionNumber": number, "spec": {"type": kind}}


@pytest.fixture
def changed(tidegate: Tidegate, server: Overlord) -> Tidegate:
    """A supervisor that was terminated, and came back with version 5."""
    rows = [row(5), row(4, "noop"), row(3), row(2)]
    server.on("GET", f"{BASE}/clicks/history", Reply(rows))
    server.on("POST", ROLLBACK, Reply(DONE))
    return tidegate


def posted(server: Overlord) -> list[Request]:
    """What was asked to be done."""
    return [request for request in server.requests if request.method == "POST"]


def test_the_version_before_is_the_last_one_that_has_a_spec(
    changed: Tidegate, server: Overlord
) -> None:
    ended = changed("supervisor", "rollback", "clicks", "--yes")

    assert (ended.code, ended.out) == (0, "clicks is as in version 3, now version 5\n")
    seen, done = posted(server)
    assert [json.loads(each.body) for each in (seen, done)] == [{"version": 3}] * 2
    assert (seen.query, done.query) == ({"dryRun": ["true"]}, {})


def test_the_version_before_may_be_on_a_later_page(changed: Tidegate, server: Overlord) -> None:
    path = f"{BASE}/clicks/history"
    link = {"Link": f'<{path}?count=2&before=4>; rel="next"'}
    pages = (Reply([row(5), row(4, "noop")], headers=link), Reply([row(3), row(2)]))
    server.on("GET", path, *pages)

    assert changed("supervisor", "rollback", "clicks", "--yes").code == 0
    assert json.loads(posted(server)[1].body) == {"version": 3}


def test_it_acts_on_what_was_shown_or_not_at_all(changed: Tidegate, server: Overlord) -> None:
    server.on("POST", ROLLBACK, Reply(DONE, headers={"ETag": '"5-a"'}))

    changed("supervisor", "rollback", "clicks", "--to", "2", "--yes")

    assert posted(server)[1].headers["if-match"] == '"5-a"'


def test_what_was_terminated_is_taken_up_only_while_it_is(
    changed: Tidegate, server: Overlord
) -> None:
    changed("supervisor", "rollback", "clicks", "--to", "2", "--yes")

    assert posted(server)[1].headers["if-none-match"] == "*"


def test_it_shows_what_changes_and_asks(changed: Tidegate, server: Overlord) -> None:
    ended = changed("supervisor", "rollback", "clicks", "--to", "2")

    assert (ended.code, len(posted(server))) == (2, 1)
    assert "/spec/ioConfig/replicas: 2 -> 1 (hot)\n" in ended.err
    assert "Roll clicks back to version 2?" in ended.err


def test_without_an_earlier_version_there_is_nothing_to_do(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.on("GET", f"{BASE}/clicks/history", Reply([row(1)]))

    ended = tidegate("supervisor", "rollback", "clicks")

    assert (ended.code, posted(server)) == (1, [])
    assert "no version before the newest" in ended.err
