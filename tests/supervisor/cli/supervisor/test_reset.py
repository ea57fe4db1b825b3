"""`tidegate supervisor reset`: says what it means, asks, and only then does it."""

import json

import pytest

from supervisor.cli.supervisor import reset as reset_verb
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

BASE = "/druid/indexer/v1/supervisor/clicks"


def moved(**numbers: int | None) -> dict[str, object]:
    """One partition of an answer."""
    nothing = {"from": 100, "to": 0, "skipped": 0, "lost": 0, "repeated": 0}
    return {"topic": "clicks", "partition": 0} | nothing | numbers


def answer(*partitions: dict[str, object]) -> Reply:
    discarded = [{"generationId": "clicks:1", "group": 0, "partitions": ["clicks:0"]}]
    body = {"id": "clicks", "dryRun": False, "partitions": partitions, "discarded": discarded}
    return Reply(body)


def posted(server: Overlord) -> list[tuple[str, bool]]:
    """Verb and whether it was a dry run, of each POST."""
    posts = [a for a in server.requests if a.method == "POST"]
    return [(a.path.rpartition("/")[2], a.query.get("dryRun") == ["true"]) for a in posts]


def test_reset_says_what_it_did(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{BASE}/reset", answer(moved(repeated=100)))

    ended = tidegate("supervisor", "reset", "clicks", "--yes")

    assert (ended.code, posted(server)) == (0, [("reset", False)])
    assert ended.out == (
        "clicks:0: from 100 to 0: 100 records are read, and in the table, a second time\n"
        "clicks is reset\n"
    )


def test_without_anybody_to_ask_it_tells_what_it_would_do_and_does_nothing(
    tidegate: Tidegate, server: Overlord
) -> None:
    """Goal: the numbers come before the question."""
    server.on("POST", f"{BASE}/reset", answer(moved(to=300, lost=150, skipped=50)))

    ended = tidegate("supervisor", "reset", "clicks")

    assert (ended.code, posted(server)) == (2, [("reset", True)])
    assert "50 records are skipped; 150 records are lost: Kafka holds them no more" in ended.err
    assert "1 range that tasks read now will be given up" in ended.err
    assert "Say --yes" in ended.err


def test_given_offsets_are_sent_as_druid_takes_them(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", f"{BASE}/status", Reply(status()))
    server.on("POST", f"{BASE}/resetOffsets", answer(moved(to=7, repeated=93)))

    ended = tidegate(
        "supervisor", "reset", "clicks", "--offset", "0=7", "--offset", "12=9", "--yes"
    )

    assert ended.code == 0, ended.err
    assert json.loads(server.requests[-1].body) == {
        "type": "kafka",
        "partitions": {"type": "end", "stream": "events", "partitionOffsetMap": {"0": 7, "12": 9}},
    }


OFFSETS = "/api/v1/supervisors/clicks/offsets"
FOUND = {"topic": "events", "partition": 0, "name": "0", "offset": 7, "exact": True, "why": None}


@pytest.mark.parametrize(
    ("option", "query"),
    [
        (("--at", "2026-01-05T12:00:00Z"), {"at": ["2026-01-05T12:00:00Z"]}),
        (("--at", "earliest"), {"at": ["earliest"]}),
        (("--shift=-100",), {"shift": ["-100"]}),
        (("--at", "latest", "--shift=-9"), {"at": ["latest"], "shift": ["-9"]}),
    ],
)
def test_a_time_or_a_shift_is_asked_for_its_offsets_first(
    tidegate: Tidegate, server: Overlord, option: tuple[str, ...], query: dict[str, list[str]]
) -> None:
    """Goal: the preview and the reset are about the offsets that were found, named one by one."""
    other = FOUND | {"partition": 1, "name": "1", "offset": 9, "exact": False, "why": "the next"}
    gone = FOUND | {"partition": 2, "name": "2", "offset": None, "exact": False, "why": "it went"}
    server.on("GET", OFFSETS, Reply({"partitions": [FOUND, other, gone]}))
    server.on("GET", f"{BASE}/status", Reply(status()))
    server.on("POST", f"{BASE}/resetOffsets", answer(moved(to=7, repeated=93)))

    ended = tidegate("supervisor", "reset", "clicks", *option, "--yes")

    assert ended.code == 0, ended.err
    assert server.requests[0].query == query
    sent = json.loads(server.requests[-1].body)["partitions"]
    assert sent["partitionOffsetMap"] == {"0": 7, "1": 9}
    assert ended.err.splitlines() == ["events:1: the next", "events:2: it went"]


def test_without_any_offset_of_a_time_nothing_is_reset(
    tidegate: Tidegate, server: Overlord
) -> None:
    """Fault: a reset without offsets begins again in all partitions."""
    server.on("GET", OFFSETS, Reply({"partitions": [FOUND | {"offset": None, "why": "none"}]}))

    ended = tidegate("supervisor", "reset", "clicks", "--shift", "5", "--yes")

    assert (ended.code, posted(server)) == (1, [])


@pytest.mark.parametrize(
    "options",
    [
        ("--shift", "1", "--offset", "0=1"),
        ("--at", "latest", "--offset", "0=1"),
        ("--at", "latest", "--to-latest", "--backfill"),
    ],
)
def test_only_one_option_says_where(
    tidegate: Tidegate, server: Overlord, options: tuple[str, ...]
) -> None:
    assert tidegate("supervisor", "reset", "clicks", *options, "--yes").code == 2
    assert server.requests == []


def test_a_topic_that_was_made_anew_takes_unpublished_records_with_it(
    tidegate: Tidegate, server: Overlord
) -> None:
    """Goal: nobody reads that nothing is skipped."""
    server.on("POST", f"{BASE}/reset", answer(moved(recreated=True)))

    ended = tidegate("supervisor", "reset", "clicks", "--dry-run")

    assert "the old topic is gone: what it held from offset 100 on" in ended.out
    assert "nothing is skipped" not in ended.out


def test_a_dry_run_asks_nobody(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{BASE}/reset", answer(moved(**{"from": None, "to": 5})))

    ended = tidegate("supervisor", "reset", "clicks", "--dry-run")

    assert (ended.code, posted(server)) == (0, [("reset", True)])
    assert "from no offset to 5: nothing is skipped or read twice" in ended.out


def test_a_partition_that_is_gone_is_told(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{BASE}/reset", answer(moved(to=None)))

    ended = tidegate("supervisor", "reset", "clicks", "--yes")

    assert "from 100 to nowhere: it exists no more" in ended.out


def test_the_answer_as_json_is_that_of_the_api(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{BASE}/reset", answer(moved()))

    ended = tidegate("supervisor", "reset", "clicks", "--yes", "-o", "json")

    assert ended.json() == answer(moved()).body | {"partitions": [moved()]}  # type: ignore[operator]


@pytest.mark.parametrize("text", ["0", "=1", "0=", "0=-1", "0=x"])
def test_an_offset_of_another_form_is_a_mistake_of_the_caller(
    tidegate: Tidegate, server: Overlord, text: str
) -> None:
    ended = tidegate("supervisor", "reset", "clicks", "--offset", text)

    assert (ended.code, server.requests) == (2, [])


def test_a_refusal_is_told_and_nothing_is_asked(tidegate: Tidegate, server: Overlord) -> None:
    server.refuse("POST", f"{BASE}/reset", 503, detail="the offsets of events are not known")

    ended = tidegate("supervisor", "reset", "clicks")

    assert ended.code == 1
    assert "the offsets of events are not known" in ended.err


def status(**members: object) -> dict[str, object]:
    payload = {"stream": "events", "state": "RUNNING"} | members
    return {"id": "clicks", "generationTime": "2026-11-21T03:17:03.479Z", "payload": payload}


def test_wait_of_reset_ends_when_its_tasks_read_again(tidegate: Tidegate, server: Overlord) -> None:
    task = {"id": "index_kafka_clicks_0123456789abcde_abcdefgh", "type": "ACTIVE"}
    server.on("POST", f"{BASE}/reset", answer(moved()))
    server.on("GET", f"{BASE}/status", Reply(status()), Reply(status(activeTasks=[task])))

    assert tidegate("supervisor", "reset", "clicks", "--yes", "--wait", "30").code == 0
    assert [a.method for a in server.requests] == ["POST", "GET", "GET"]
    server.on("GET", f"{BASE}/status", Reply(status()))
    assert tidegate("supervisor", "reset", "clicks", "--yes", "--wait", "0.1").code == 4


# -- previews that bind ----------------------------------------------------------------------------

FIRST, SECOND = "1" * 32, "2" * 32


def previewed(digest: str, **numbers: int | None) -> Reply:
    reply = answer(moved(**numbers))
    return Reply({**reply.body, "dryRun": True, "digest": digest})  # type: ignore[dict-item]


def expected(server: Overlord) -> list[tuple[bool, str]]:
    """Whether it was a dry run, and what was expected, of each POST."""
    posts = [a for a in server.requests if a.method == "POST"]
    return [("dryRun" in a.query, a.query.get("expect", [""])[0]) for a in posts]


def test_who_says_yes_gets_what_was_shown(
    tidegate: Tidegate, server: Overlord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reset_verb, "confirm", lambda _: None)
    server.on("POST", f"{BASE}/reset", previewed(FIRST, repeated=9), answer(moved(repeated=9)))

    assert tidegate("supervisor", "reset", "clicks").code == 0

    assert expected(server) == [(True, ""), (False, FIRST)]


def test_what_has_changed_meanwhile_is_shown_and_confirmed_anew(
    tidegate: Tidegate, server: Overlord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: nothing happens that nobody has read."""
    questions: list[str] = []
    monkeypatch.setattr(reset_verb, "confirm", questions.append)
    outdated = Reply(
        {"type": "/problems/preview-outdated", "title": "t", "detail": "d", "status": 409}, 409
    )
    server.on(
        "POST",
        f"{BASE}/reset",
        previewed(FIRST, repeated=9),
        outdated,
        previewed(SECOND, repeated=12),
        answer(moved(repeated=12)),
    )

    ended = tidegate("supervisor", "reset", "clicks", "--begin", "earliest")

    assert (ended.code, len(questions)) == (0, 2)
    assert expected(server) == [(True, ""), (False, FIRST), (True, ""), (False, SECOND)]
    assert {request.query["to"][0] for request in server.requests} == {"earliest"}
    assert "has changed meanwhile" in ended.err
    assert "12 records are read" in ended.err


def test_a_script_expects_the_digest_of_a_dry_run(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{BASE}/reset", previewed(FIRST), answer(moved()))

    dry = tidegate("supervisor", "reset", "clicks", "--dry-run")
    assert f"--expect {FIRST}" in dry.err
    assert tidegate("supervisor", "reset", "clicks", "--expect", FIRST).code == 0

    assert expected(server) == [(True, ""), (False, FIRST)]


def test_a_script_with_an_old_digest_is_sent_to_the_new_preview(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.refuse("POST", f"{BASE}/reset", 409, type="/problems/preview-outdated", detail="old")

    ended = tidegate("supervisor", "reset", "clicks", "--expect", FIRST)

    assert (ended.code, expected(server)) == (1, [(False, FIRST)])
    assert "--dry-run shows what it would do now" in ended.err


@pytest.mark.parametrize("option", [("--offset", "0=1"), ("--shift", "1"), ("--at", "latest")])
def test_a_beginning_of_all_goes_with_no_other_place(
    tidegate: Tidegate, server: Overlord, option: tuple[str, str]
) -> None:
    ended = tidegate("supervisor", "reset", "clicks", "--begin", "latest", *option)

    assert (ended.code, server.requests) == (2, [])
