"""`tidegate reports`: what is sent to a persister, and what is shown of its answers."""

import json

import pytest

from supervisor.cli.shell.problems import FAILED
from supervisor.core.spec.reader import read_spec
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

STATUS = {
    "state": "RUNNING",
    "reason": "",
    "fix": "",
    "stored": 12,
    "conflicts": 3,
    "deadLetters": 2,
    "lag": {"completed.default": 40},
    "lagSeconds": {"completed.default": 75.0},
    "lostOffsets": {},
}


def letter(offset: int, outcome: str | None = None, **more: object) -> dict[str, object]:
    """Return a letter, as a persister shows it."""
    handled = {
        "verb": "replay",
        "outcome": outcome,
        "detail": "unknown version 9" if outcome == "rejected" else "",
        "by": "ada",
        "reason": "",
        "at": "2026-01-05T12:00:00Z",
    }
    return {
        "partition": 0,
        "offset": offset,
        "at": "2026-01-05T12:00:00Z",
        "reason": "unknown version 9",
        "topic": "completed.default",
        "topicPartition": 2,
        "topicOffset": 7,
        "bytes": 20,
        "body": '{"v": 9}',
        "cut": False,
        "handled": None if outcome is None else handled,
        **more,
    }


@pytest.fixture(autouse=True)
def _a_persister(server: Overlord, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_REPORTS_PERSISTER", server.url)


def test_status_shows_the_lag_of_each_topic_and_what_waits_for_people(
    server: Overlord, tidegate: Tidegate
) -> None:
    server.on("GET", "/status", Reply(STATUS))
    done = tidegate("reports", "status")
    assert done.code == 0
    assert "40 records, 1m" in done.out
    assert "dead letters" in done.out


def test_status_of_a_stopped_persister_says_why_and_what_to_do(
    server: Overlord, tidegate: Tidegate
) -> None:
    stopped = STATUS | {
        "state": "STOPPED",
        "reason": "a wrong password",
        "fix": "tidegate reports resume",
    }
    server.on("GET", "/status", Reply(stopped))
    done = tidegate("reports", "status")
    assert done.code == FAILED
    assert "a wrong password" in done.out
    assert "tidegate reports resume" in done.out


def test_a_persister_that_does_not_answer_is_one_line_of_the_status(tidegate: Tidegate) -> None:
    done = tidegate("reports", "status", "--persister", "127.0.0.1:1")
    assert done.code == FAILED
    assert "no answer" in done.out
    assert "tidegate persister" in done.out


@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_a_verb_goes_to_the_persister(server: Overlord, tidegate: Tidegate, verb: str) -> None:
    server.on("POST", f"/{verb}", Reply({"state": "RUNNING"}))
    done = tidegate("reports", verb)
    assert (done.code, done.out) == (0, f"{server.url}: RUNNING\n")


def test_dead_letters_are_listed_over_pages(server: Overlord, tidegate: Tidegate) -> None:
    server.on(
        "GET",
        "/dead-letters",
        Reply({"letters": [letter(9)], "next": "0-9"}),
        Reply({"letters": [letter(4)], "next": None}),
    )
    done = tidegate("reports", "dead", "list", "--about", "version", "-o", "name")
    assert done.out == "0 9\n0 4\n"
    [first, second] = server.requests
    assert first.query["reason"] == ["version"]
    assert second.query["after"] == ["0-9"]


def test_a_letter_is_shown_without_signs_that_steer_a_terminal(
    server: Overlord, tidegate: Tidegate
) -> None:
    server.on("GET", "/dead-letters/0/9", Reply(letter(9, body="red: \x1b[31m")))
    done = tidegate("reports", "dead", "show", "0", "9")
    assert "completed.default[2]@7" in done.out
    assert "\x1b" not in done.out


def test_a_replay_says_what_became_of_it_and_who_did_it(
    server: Overlord, tidegate: Tidegate
) -> None:
    server.on("POST", "/dead-letters/0/9/replay", Reply(letter(9, "stored")))
    done = tidegate("reports", "dead", "replay", "0", "9", "--by", "ada", "--reason", "upgraded")
    assert done.code == 0
    assert "letter 0 9: stored, by ada" in done.out
    assert server.requests[0].query == {"by": ["ada"], "reason": ["upgraded"]}


def test_all_letters_are_replayed_and_a_refused_one_fails_the_command(
    server: Overlord, tidegate: Tidegate
) -> None:
    server.on("GET", "/dead-letters", Reply({"letters": [letter(9), letter(4)], "next": None}))
    server.on("POST", "/dead-letters/0/9/replay", Reply(letter(9, "rejected")))
    server.on("POST", "/dead-letters/0/4/replay", Reply(letter(4, "conflict")))
    done = tidegate("reports", "dead", "replay", "--all")
    assert done.code == FAILED
    assert "rejected: unknown version 9" in done.out
    assert "letter 0 4: conflict" in done.out


def test_a_drop_asks_before_it_is_done(server: Overlord, tidegate: Tidegate) -> None:
    server.on("GET", "/dead-letters/0/9", Reply(letter(9)))
    server.on("DELETE", "/dead-letters/0/9", Reply(letter(9, "dropped")))
    refused = tidegate("reports", "dead", "drop", "0", "9")
    assert refused.code != 0
    assert [each.method for each in server.requests] == ["GET"]
    done = tidegate("reports", "dead", "drop", "0", "9", "--yes")
    assert "letter 0 9: dropped" in done.out


def test_the_spec_of_records_is_one_that_an_overlord_takes(tidegate: Tidegate) -> None:
    done = tidegate("reports", "spec", "--kafka", "kafka:9092")
    spec = json.loads(done.out)
    assert read_spec(spec).spec.data_schema.data_source == "reports"
    assert spec["spec"]["ioConfig"]["topicPattern"] == "completed[.-].*"


def test_without_a_persister_the_overlord_passes_on_what_is_wanted(
    server: Overlord, tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: the letters of a list are handled at the persister that has answered the list."""
    monkeypatch.delenv("TIDEGATE_REPORTS_PERSISTER")
    monkeypatch.setenv("TIDEGATE_OVERLORDS", server.url)
    letters = "/api/v1/dead-letters"
    page = {"letters": [letter(9)], "next": None, "persister": "http://p-2:8092"}
    server.on("GET", letters, Reply(page))
    server.on("GET", f"{letters}/0/9", Reply(letter(9)))
    server.on("POST", f"{letters}/0/9/replay", Reply(letter(9, "stored")))
    server.on("DELETE", f"{letters}/0/9", Reply(letter(9, "dropped")))
    assert "0 9" in tidegate("reports", "dead", "list", "--about", "x", "-o", "name").out
    assert "unknown version 9" in tidegate("reports", "dead", "show", "0", "9").out
    replayed = tidegate("reports", "dead", "replay", "--all", "--reason", "upgraded")
    dropped = tidegate("reports", "dead", "drop", "0", "9", "--yes")

    assert "letter 0 9: stored" in replayed.out
    assert "letter 0 9: dropped" in dropped.out
    assert server.requests[0].query["about"] == ["x"]
    [replay] = [each for each in server.requests if each.method == "POST"]
    assert replay.query == {"persister": ["http://p-2:8092"], "reason": ["upgraded"]}
