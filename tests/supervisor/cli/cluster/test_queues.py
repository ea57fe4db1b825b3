"""`tidegate queue ...`: what it shows, what it asks, and what it sends."""

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

QUEUES = "/api/v1/queues"
PLACE = ("supervisor:clicks", "task-output")
PATH = f"{QUEUES}/supervisor:clicks/task-output"
QUEUE = {
    "container": "supervisor:clicks",
    "name": "task-output",
    "state": "LIVE",
    "mode": "CONSUMER",
    "outstandingEvents": 3,
    "outstandingBytes": 2048,
    "maxOutstandingBytes": 64 * 1024 * 1024,
    "oldestAge": 90.0,
    "oldest": {
        "seq": 14,
        "kind": "task_output",
        "key": "task-14",
        "enqueuedAt": "2026-01-05T12:00:00Z",
        "dueAt": "2026-01-05T12:01:00Z",
    },
    "latency": {"average": 61.25, "p99": 90.0, "count": 200},
    "failedIterations": 0,
    "lastError": "",
    "failedEvents": 1,
    "segments": 1,
    "deadSeq": None,
    "deadWhy": "",
    "healthy": True,
    "why": "",
}
DEAD = QUEUE | {
    "state": "DEAD",
    "deadSeq": 15,
    "deadWhy": "event 15 is missing",
    "healthy": False,
    "why": "dead at 15: event 15 is missing",
}
FAILED = {
    "container": "supervisor:clicks",
    "name": "task-output",
    "seq": 7,
    "key": "task-7",
    "reason": "the warehouse is read-only " * 10,
    "attempts": 3,
    "sizeBytes": 99,
    "enqueuedAt": "2026-01-05T12:00:00Z",
    "failedAt": "2026-01-05T12:05:00Z",
}
PAYLOAD = {"v": 1, "kind": "task_output", "key": "task-7"}


def sent(server: Overlord) -> list[tuple[str, str]]:
    """What changes something, of all that was asked."""
    return [
        (request.method, request.path) for request in server.requests if request.method != "GET"
    ]


def test_queues_are_listed_with_what_is_wrong(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", QUEUES, Reply([QUEUE, DEAD | {"name": "other"}]))

    ended = tidegate("queue", "list")

    _, first, second = ended.out.splitlines()
    assert first.split()[:6] == [*PLACE, "LIVE", "3", "2.0", "KiB"]
    assert first.endswith("yes")
    assert second.endswith("no: dead at 15: event 15 is missing")
    assert tidegate("queue", "list", "-o", "json").json() == [QUEUE, DEAD | {"name": "other"}]


def test_only_queues_with_a_trouble_are_listed(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", QUEUES, Reply([DEAD]), Reply([]))

    ended = tidegate("queue", "list", "--unhealthy", "-n", "5")

    assert len(ended.out.splitlines()) == 2
    assert server.requests[0].query == {"unhealthy": ["true"], "limit": ["5"]}
    assert "No event queue has a trouble" in tidegate("queue", "list", "--unhealthy").err


def test_no_queue_is_said_in_words(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", QUEUES, Reply([]))

    assert "nothing was ever deferred" in tidegate("queue", "list").err


def test_a_queue_is_shown_with_its_oldest_event(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", PATH, Reply(QUEUE))

    out = tidegate("queue", "show", *PLACE).out

    for shown in ("event 14 (task_output, task-14)", "61.2s on average", "(limit 64.0 MiB)"):
        assert shown in out
    assert tidegate("queue", "show", *PLACE, "-o", "json").json() == QUEUE


def test_a_queue_that_is_not_there_is_exit_code_1(tidegate: Tidegate, server: Overlord) -> None:
    server.refuse("GET", PATH, 404, detail="there is no event queue")

    ended = tidegate("queue", "show", *PLACE)

    assert (ended.code, "there is no event queue" in ended.err) == (1, True)


@pytest.mark.parametrize(("words", "path"), [((), QUEUES), (PLACE, PATH)])
def test_failed_events_are_listed_of_all_queues_or_one(
    tidegate: Tidegate, server: Overlord, words: tuple[str, ...], path: str
) -> None:
    server.on("GET", f"{path}/failed", Reply({"failed": [FAILED], "next": None}))

    line = tidegate("queue", "failed", *words, "--limit", "5").out.splitlines()[1]

    assert line.split()[:5] == [*PLACE, "7", "task-7", "3"]
    assert line.endswith("...")
    assert server.requests[0].query == {"limit": ["5"]}
    listed = tidegate("queue", "failed", *words, "-o", "json").json()
    assert listed == {"failed": [FAILED], "next": None}


def test_a_failed_event_is_shown_whole(tidegate: Tidegate, server: Overlord) -> None:
    event = FAILED | {"payload": PAYLOAD, "payloadBase64": None}
    server.on("GET", f"{PATH}/failed/7", Reply(event))

    out = tidegate("queue", "failed", *PLACE, "--seq", "7").out

    assert FAILED["reason"].strip() in out  # type: ignore[attr-defined]  # it is text
    assert '"kind": "task_output"' in out
    as_json = tidegate("queue", "failed", *PLACE, "--seq", "7", "-o", "json").json()
    assert as_json == event


def test_a_payload_that_is_no_json_is_shown_in_base64(tidegate: Tidegate, server: Overlord) -> None:
    event = FAILED | {"payload": None, "payloadBase64": "/wA="}
    server.on("GET", f"{PATH}/failed/7", Reply(event))

    assert "/wA=" in tidegate("queue", "failed", *PLACE, "--seq", "7").out


def test_one_failed_event_is_replayed(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{PATH}/failed/7/replay", Reply({"seq": 7}))

    ended = tidegate("queue", "replay", *PLACE, "7")

    assert (ended.code, ended.out) == (0, "event 7 waits in supervisor:clicks/task-output again\n")
    assert sent(server) == [("POST", f"{PATH}/failed/7/replay")]


def test_a_replay_of_all_says_what_is_left(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{PATH}/failed/replay", Reply({"replayed": 4, "left": 2}))

    ended = tidegate("queue", "replay", *PLACE, "--all")

    assert ended.out.startswith("4 events wait")
    assert "2 are left" in ended.err
    assert "tidegate queue failed supervisor:clicks task-output" in ended.err


@pytest.mark.parametrize(
    "words",
    [
        ("replay", *PLACE),
        ("replay", *PLACE, "7", "--all"),
        ("failed", "supervisor:clicks"),
        ("failed", "--seq", "7"),
        ("drop", *PLACE, "seven"),
    ],
)
def test_words_that_do_not_say_which_event_are_refused(
    tidegate: Tidegate, server: Overlord, words: tuple[str, ...]
) -> None:
    assert tidegate("queue", *words).code == 2
    assert server.requests == []


def test_a_drop_says_what_it_does_and_asks(tidegate: Tidegate, server: Overlord) -> None:
    """Goal: with nobody to ask, nothing is dropped."""
    server.on("GET", f"{PATH}/failed/7", Reply(FAILED | {"payload": PAYLOAD}))
    server.on("DELETE", f"{PATH}/failed/7", Reply({"seq": 7}))

    unconfirmed = tidegate("queue", "drop", *PLACE, "7")

    assert unconfirmed.code == 2
    for shown in ("task-7", "read-only", "never done", "Say --yes"):
        assert shown in unconfirmed.err
    assert sent(server) == []

    ended = tidegate("queue", "drop", *PLACE, "7", "--yes")
    assert (ended.code, ended.out) == (0, "event 7 of supervisor:clicks/task-output is dropped\n")
    assert sent(server) == [("DELETE", f"{PATH}/failed/7")]


def test_a_repair_says_what_it_does_and_asks(tidegate: Tidegate, server: Overlord) -> None:
    """Goal: with nobody to ask, nothing is repaired."""
    server.on("GET", PATH, Reply(DEAD))
    server.on("POST", f"{PATH}/repair", Reply({"again": 5, "setAside": 2, "missing": 1}))

    unconfirmed = tidegate("queue", "repair", *PLACE)

    assert unconfirmed.code == 2
    for shown in ("dead at event 15", "event 15 is missing", "set aside", "Say --yes"):
        assert shown in unconfirmed.err
    assert sent(server) == []

    ended = tidegate("queue", "repair", *PLACE, "-y")
    assert ended.out == "supervisor:clicks/task-output is live: 5 events wait in it again\n"
    assert "2 were set aside" in ended.err
    assert "1 are missing" in ended.err
    assert sent(server) == [("POST", f"{PATH}/repair")]


@pytest.mark.parametrize(
    ("words", "method", "path", "answer"),
    [
        (("replay", *PLACE, "7"), "POST", f"{PATH}/failed/7/replay", {"seq": 7}),
        (("drop", *PLACE, "7", "--yes"), "DELETE", f"{PATH}/failed/7", {"seq": 7}),
        (("repair", *PLACE, "--yes"), "POST", f"{PATH}/repair", {"again": 1}),
    ],
)
def test_every_verb_answers_in_json(
    tidegate: Tidegate,
    server: Overlord,
    words: tuple[str, ...],
    method: str,
    path: str,
    *,
    answer: dict[str, int],
) -> None:
    server.on(method, path, Reply(answer))

    assert tidegate("queue", *words, "-o", "json").json() == answer


def test_a_refusal_of_the_server_is_told(tidegate: Tidegate, server: Overlord) -> None:
    server.refuse("POST", f"{PATH}/repair", 409, detail="is not dead: there is nothing to repair")

    ended = tidegate("queue", "repair", *PLACE, "--yes")

    assert (ended.code, "nothing to repair" in ended.err) == (1, True)
