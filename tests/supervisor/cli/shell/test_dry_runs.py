"""`--dry-run`, `--expect` and `--reason` of every verb: what is sent, and what is printed."""

from collections.abc import Sequence

import pytest

from supervisor.core.attention.foreseen.bulk import every_digest
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply, Request

DRUID = "/druid/indexer/v1"
DIGEST = "0123456789abcdef" * 2
OFFSETS = {"topic": "clicks", "partition": 0, "from": 3, "to": 8}
RANGE = {"generationId": "clicks:1", "group": 0, "offsets": [OFFSETS]}
PREVIEW = {
    "dryRun": True,
    "verb": "suspend",
    "id": "clicks",
    "text": "1 range hands off and publishes what it has read; nothing new starts.",
    "undo": "`tidegate supervisor resume clicks`",
    "digest": DIGEST,
    "warnings": ["t1 is on w-1, which is LOST"],
    "ends": [RANGE | {"task": "t1", "worker": "w-1", "unpublished": 5}],
    "publishes": [RANGE],
    "stays": [],
    "givesUp": [RANGE],
    "tasks": ["t2"],
    "files": {"n": 2, "rows": 1_200, "bytes": 9},
}
STATUS = {"id": "clicks", "payload": {"groups": [{"group": 0, "generationId": "clicks:1"}]}}
CLICKS = f"{DRUID}/supervisor/clicks"
TABLE = f"{DRUID}/datasources/clicks"
OURS = "/api/v1/datasources/clicks"
GC = "/api/v1/queues/table:x/gc"
VERBS: dict[str, tuple[Sequence[str], str, str]] = {
    "suspend": (("supervisor", "suspend", "clicks"), "POST", f"{CLICKS}/suspend"),
    "resume": (("supervisor", "resume", "clicks"), "POST", f"{CLICKS}/resume"),
    "terminate": (("supervisor", "terminate", "clicks"), "POST", f"{CLICKS}/terminate"),
    "handoff": (("supervisor", "handoff", "clicks"), "POST", f"{CLICKS}/taskGroups/handoff"),
    "forget": (("supervisor", "forget", "clicks"), "POST", "/api/v1/supervisors/clicks/forget"),
    "stop": (("task", "stop", "t1"), "POST", f"{DRUID}/task/t1/shutdown"),
    "stop-all": (("task", "stop-all", "clicks"), "POST", f"{TABLE}/shutdownAllTasks"),
    "mark-unused": (("segment", "mark-unused", "clicks", "--all"), "DELETE", TABLE),
    "mark some unused": (
        ("segment", "mark-unused", "clicks", "--id", "t1/0"),
        "POST",
        f"{TABLE}/markUnused",
    ),
    "mark-used": (("segment", "mark-used", "clicks", "--all"), "POST", TABLE),
    "compact": (("compaction", "run", "clicks"), "POST", "/api/v1/datasources/clicks/compact"),
    "disable": (("worker", "disable", "w-1"), "POST", f"{DRUID}/worker/w-1/disable"),
    "forget worker": (("worker", "forget", "w-1"), "POST", f"{DRUID}/worker/w-1/forget"),
    "replay": (("queue", "replay", "table:x", "gc", "7"), "POST", f"{GC}/failed/7/replay"),
    "replay all": (("queue", "replay", "table:x", "gc", "--all"), "POST", f"{GC}/failed/replay"),
    "drop": (("queue", "drop", "table:x", "gc", "7"), "DELETE", f"{GC}/failed/7"),
    "repair": (("queue", "repair", "table:x", "gc"), "POST", f"{GC}/repair"),
    "cancel": (("compaction", "cancel", "c1"), "POST", "/api/v1/compactions/c1/cancel"),
    "compact by rule": (
        ("compaction", "rule", "clicks", "--skip-latest", "P1D"),
        "PUT",
        f"{OURS}/compaction",
    ),
    "compact by no rule": (
        ("compaction", "rule", "clicks", "--off"),
        "DELETE",
        f"{OURS}/compaction",
    ),
    "keep for": (
        ("segment", "retention", "clicks", "--keep-for", "P30D"),
        "PUT",
        f"{OURS}/retention",
    ),
    "keep forever": (
        ("segment", "retention", "clicks", "--keep-forever"),
        "DELETE",
        f"{OURS}/retention",
    ),
    "enable": (("worker", "enable", "w-1"), "POST", f"{DRUID}/worker/w-1/enable"),
}
each_verb = pytest.mark.parametrize(
    ("words", "method", "path"), [pytest.param(*VERBS[name], id=name) for name in VERBS]
)


def prepare(server: Overlord, method: str, path: str, answer: object = PREVIEW) -> None:
    """An overlord that knows dry runs."""
    server.on("GET", "/openapi.json", Reply({"components": {"schemas": {"VerbPreview": {}}}}))
    server.on("GET", f"{CLICKS}/status", Reply(STATUS))
    server.on(method, path, Reply(answer))


def changes(server: Overlord) -> list[Request]:
    """What was sent but for questions."""
    return [request for request in server.requests if request.method != "GET"]


@each_verb
def test_a_dry_run_is_all_that_is_sent_and_nobody_is_asked(
    tidegate: Tidegate, server: Overlord, words: Sequence[str], method: str, path: str
) -> None:
    prepare(server, method, path)

    ended = tidegate(*words, "--dry-run")

    [sent] = changes(server)
    assert (ended.code, sent.path, sent.query) == (0, path, {"dryRun": ["true"]})
    assert "1 range hands off and publishes what it has read" in ended.out
    assert "ends: t1 on w-1, 5 offsets read and not published" in ended.out
    assert "gives up: group 0, clicks:0 from 3 to 8" in ended.out
    assert "files: 2 with 1,200 rows, 9 bytes" in ended.out
    assert "undo: `tidegate supervisor resume clicks`" in ended.out
    assert f"--expect {DIGEST}" in ended.err


@each_verb
def test_an_expected_digest_and_a_reason_go_with_the_act_without_a_question(
    tidegate: Tidegate, server: Overlord, words: Sequence[str], method: str, path: str
) -> None:
    prepare(server, method, path, {"compactions": []})

    ended = tidegate(*words, "--expect", DIGEST, "--reason", "größer & 100 %", "-o", "json")

    [sent] = changes(server)
    assert ended.code == 0, ended.err
    assert sent.query == {"expect": [DIGEST], "reason": ["größer & 100 %"]}


def test_the_preview_is_data_as_it_came(tidegate: Tidegate, server: Overlord) -> None:
    words, method, path = VERBS["stop"]
    prepare(server, method, path)

    assert tidegate(*words, "--dry-run", "-o", "json").json() == PREVIEW


def test_an_outdated_digest_fails_and_says_how_to_see_the_new_preview(
    tidegate: Tidegate, server: Overlord
) -> None:
    words, method, path = VERBS["terminate"]
    server.refuse(method, path, 409, type="/problems/preview-outdated", detail="nothing is done")

    ended = tidegate(*words, "--expect", DIGEST)

    assert ended.code == 1
    assert "nothing is done" in ended.err
    assert "--dry-run shows what it would do now" in ended.err


@each_verb
def test_an_overlord_without_dry_runs_is_not_sent_what_it_would_carry_out(
    tidegate: Tidegate, server: Overlord, words: Sequence[str], method: str, path: str
) -> None:
    """Source: an earlier release ignores the parameter, and acts."""
    prepare(server, method, path)
    server.on("GET", "/openapi.json", Reply({"components": {"schemas": {}}}))

    ended = tidegate(*words, "--dry-run")

    assert (ended.code, changes(server)) == (1, [])
    assert "nothing was sent" in ended.err


def test_a_digest_of_a_handoff_is_of_one_supervisor(tidegate: Tidegate, server: Overlord) -> None:
    ended = tidegate("supervisor", "handoff", "clicks", "views", "--expect", DIGEST)

    assert (ended.code, server.requests) == (2, [])
    assert "name one ID" in ended.err


# -- several at once -------------------------------------------------------------------------------

OTHER = "fedcba9876543210" * 2
BOTH = every_digest("suspend", [("clicks", DIGEST), ("views", OTHER)])
SEVERAL = ("supervisor", "suspend", "views", "clicks", "gone")
VIEWS = f"{DRUID}/supervisor/views/suspend"


def _prepare_several(server: Overlord) -> None:
    """Two supervisors that can be suspended, and one that is suspended."""
    _, method, path = VERBS["suspend"]
    prepare(server, method, path)
    server.on(method, VIEWS, Reply(PREVIEW | {"id": "views", "digest": OTHER}))
    gone = f"{DRUID}/supervisor/gone/suspend"
    server.refuse(method, gone, 400, type="/problems/already-in-state", detail="gone: suspended")


def test_a_dry_run_of_several_has_one_digest_for_all(tidegate: Tidegate, server: Overlord) -> None:
    """Goal: it is that of the overlord's own preview for every supervisor."""
    _prepare_several(server)

    ended = tidegate(*SEVERAL, "--dry-run")

    assert ended.code == 0
    assert [request.query for request in changes(server)] == [{"dryRun": ["true"]}] * 3
    assert f"--expect {BOTH} with the same supervisors" in ended.err
    assert (DIGEST in ended.err, "gone: suspended" in ended.err) == (False, True)
    assert ended.out.count("hands off and publishes what it has read") == 2


def test_several_are_done_if_all_is_as_shown_each_bound_to_its_own(
    tidegate: Tidegate, server: Overlord
) -> None:
    _prepare_several(server)

    ended = tidegate(*SEVERAL, "--expect", BOTH, "--reason", "kafka moves")

    acts = [each for each in changes(server) if "dryRun" not in each.query]
    assert ended.code == 0, ended.err
    assert [(each.path, each.query["expect"], each.query["reason"]) for each in acts] == [
        (VIEWS, [OTHER], ["kafka moves"]),
        (f"{CLICKS}/suspend", [DIGEST], ["kafka moves"]),
    ]


def test_none_of_several_is_touched_if_one_would_go_another_way(
    tidegate: Tidegate, server: Overlord
) -> None:
    _prepare_several(server)
    server.on("POST", VIEWS, Reply(PREVIEW | {"id": "views", "digest": "1" * 32}))

    ended = tidegate(*SEVERAL, "--expect", BOTH)

    assert ended.code == 1
    assert all("dryRun" in each.query for each in changes(server))
    assert "nothing is done" in ended.err
    assert "--dry-run shows what it would do now" in ended.err


@pytest.mark.parametrize("reason", ["two\nlines", "\x1b[31m", "x" * 501])
def test_what_is_no_reason_is_wrong_usage(
    tidegate: Tidegate, server: Overlord, reason: str
) -> None:
    ended = tidegate("supervisor", "suspend", "clicks", "--reason", reason)

    assert (ended.code, server.requests) == (2, [])
    assert "--reason" in ended.err


def test_the_audit_shows_reasons(tidegate: Tidegate, server: Overlord) -> None:
    entry: dict[str, object] = {"at": "2026-01-05T12:00:00Z", "actor": "ada", "action": "suspend"}
    entry |= {"subject": "clicks", "detail": {}, "reason": "kafka moves"}
    server.on("GET", "/api/v1/audit", Reply({"entries": [entry], "next": None}))

    assert "kafka moves" in tidegate("audit").out
