"""`-o name`, of every verb that has `-o`: what the next verb takes, or a clear refusal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from typer.core import TyperCommand, TyperGroup

from scripts.reference import commands
from supervisor.cli.shell.names import NAMES, About, Nameless, Rows
from tests.supervisor.cli.cluster.test_queues import FAILED, QUEUE
from tests.supervisor.cli.cluster.test_reports import letter
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.flow.answers import APPLIED, DEAD_INPUT, EXECUTION, LINE, STORED, TRIGGER
from tests.supervisor.cli.overlord import Overlord, Reply
from tests.supervisor.cli.table.test_compaction import compaction
from tests.supervisor.cli.table.test_exports import export
from tests.supervisor.cli.table.test_quarantine import RECORD, REPLAYED, page
from tests.supervisor.cli.table.test_segment_life import segment

VERBS = {name.partition(" ")[2]: found for name, found in commands()}
NEEDS_KAFKA = {"quarantine replay"}
"""Told by tests/supervisor/cli/table/test_replay.py, with a broker."""

DRUID = "/druid/indexer/v1"
CLICKS = f"{DRUID}/supervisor/clicks"
OURS = "/api/v1/supervisors/clicks"
DEAD = "/api/v1/executor/dead"
TABLE = "/api/v1/datasources/clicks"
TASK = {"id": "index_a", "statusCode": "RUNNING", "dataSource": "clicks"}
WORKER = {
    "id": "w-1",
    "host": "127.0.0.1:8091",
    "slots": {"total": 4, "used": 0},
    "registeredAt": "2026-01-05T12:00Z",
}
DONE = {"id": "clicks", "version": 2}
VERDICT = {"id": "clicks", "valid": True, "exists": True}
MARKED = {"numChangedSegments": 2}
PLACE = ("supervisor:clicks", "task-output")
WORDS = "supervisor:clicks task-output"
FLOWS = "/api/v1/flows"
QUEUES = "/api/v1/queues/supervisor:clicks/task-output"
RULE = {"dataSource": "clicks"}
SEGMENTS = {"dataSource": "clicks", "segments": [segment(1), segment(2)]}
STATUS = {"id": "clicks", "payload": {"state": "RUNNING"}}
VERSIONS = [
    {"version": f"2026-01-0{number}T00:00:00Z", "versionNumber": number, "spec": {"type": "kafka"}}
    for number in (2, 1)
]


@dataclass(frozen=True)
class Case:
    """One call of a verb, what the overlord answers, and the names that are printed."""

    printed: str
    replies: Mapping[tuple[str, str], object] = field(default_factory=dict)
    words: tuple[str, ...] = ()


def one(method: str, path: str, body: object) -> dict[tuple[str, str], object]:
    return {(method, path): body}


CASES = {
    "supervisor list": Case(
        "a\nb\n",
        one("GET", f"{DRUID}/supervisor", [{"id": each, "state": "RUNNING"} for each in "ab"]),
    ),
    "supervisor lag": Case(
        "a\nb\n",
        one("GET", "/api/v1/lag", {"lag": {each: {"at": [], "records": []} for each in "ab"}}),
        ("a", "b"),
    ),
    "supervisor top": Case(
        "a\nb\n",
        one(
            "GET",
            "/api/v1/supervisors",
            {"supervisors": [{"id": each, "versionAt": "2026-01-05T12:00Z"} for each in "ab"]},
        ),
    ),
    "supervisor get": Case("clicks\n", one("GET", CLICKS, {"type": "kafka"}), ("clicks",)),
    "supervisor status": Case("clicks\n", one("GET", f"{CLICKS}/status", STATUS), ("clicks",)),
    "supervisor health": Case(
        "clicks\n", one("GET", f"{CLICKS}/health", {"healthy": True}), ("clicks",)
    ),
    "supervisor history": Case(
        "2\n1\n", one("GET", f"{CLICKS}/history", VERSIONS), ("clicks", "-n", "2")
    ),
    "supervisor apply": Case(
        "clicks\n", one("POST", f"{DRUID}/supervisor", DONE), ("-f", "spec.json")
    ),
    "supervisor diff": Case(
        "clicks\n", one("POST", "/api/v1/supervisors/validate", VERDICT), ("-f", "spec.json")
    ),
    "supervisor rollback": Case(
        "clicks\n", one("POST", f"{OURS}/rollback", DONE), ("clicks", "--to", "1", "--yes")
    ),
    "supervisor suspend": Case("clicks\n", one("POST", f"{CLICKS}/suspend", {}), ("clicks",)),
    "supervisor resume": Case("clicks\n", one("POST", f"{CLICKS}/resume", {}), ("clicks",)),
    "supervisor terminate": Case(
        "clicks\n", one("POST", f"{CLICKS}/terminate", {}), ("clicks", "--yes")
    ),
    "supervisor forget": Case("clicks\n", one("POST", f"{OURS}/forget", {}), ("clicks", "--yes")),
    "supervisor reset": Case("clicks\n", one("POST", f"{CLICKS}/reset", DONE), ("clicks", "--yes")),
    "supervisor handoff": Case("clicks\n", one("GET", f"{CLICKS}/status", STATUS), ("clicks",)),
    "supervisor explain": Case(
        "clicks\n",
        one("GET", f"{OURS}/explain", {"sentences": [{"text": "It reads."}]}),
        ("clicks",),
    ),
    "flow list": Case("day\n", one("GET", FLOWS, {"flows": [STORED], "next": None})),
    "flow apply": Case("day\n", one("POST", FLOWS, APPLIED), ("spec.json",)),
    "flow triggers": Case(
        "nightly\n", one("GET", f"{FLOWS}/day/triggers", {"triggers": [TRIGGER]}), ("day",)
    ),
    "flow get": Case("day\n", one("GET", f"{FLOWS}/day", STORED), ("day",)),
    "execution run": Case("day:mon\n", one("POST", f"{FLOWS}/day/executions", EXECUTION), ("day",)),
    "execution list": Case(
        "day:mon\n", one("GET", "/api/v1/executions", {"executions": [LINE], "next": None})
    ),
    "execution get": Case(
        "day:mon\n", one("GET", "/api/v1/executions/day:mon", EXECUTION), ("day:mon",)
    ),
    "execution rerun": Case(
        "day:mon\n", one("POST", "/api/v1/executions/day:sun/rerun", EXECUTION), ("day:sun",)
    ),
    "task list": Case("index_a\n", one("GET", f"{DRUID}/tasks", [TASK])),
    "task find": Case("index_a\n", one("GET", "/api/v1/tasks", {"tasks": [TASK]})),
    "task get": Case(
        "index_a\n",
        one("GET", f"{DRUID}/task/index_a/status", {"status": TASK})
        | one("GET", f"{DRUID}/task/index_a/reports", {}),
        ("index_a",),
    ),
    "task stop": Case("index_a\n", one("POST", f"{DRUID}/task/index_a/shutdown", {}), ("index_a",)),
    "task stop-all": Case(
        "clicks\n", one("POST", f"{DRUID}/datasources/clicks/shutdownAllTasks", {}), ("clicks",)
    ),
    "worker list": Case("w-1\n", one("GET", "/api/v1/workers", [WORKER])),
    "worker show": Case("w-1\n", one("GET", "/api/v1/workers/w-1", WORKER), ("w-1",)),
    "worker disable": Case("w-1\n", one("POST", f"{DRUID}/worker/w-1/disable", {}), ("w-1",)),
    "worker forget": Case(
        "w-1\n", one("POST", f"{DRUID}/worker/w-1/forget", {"worker": "w-1"}), ("w-1", "--yes")
    ),
    "worker enable": Case("w-1\n", one("POST", f"{DRUID}/worker/w-1/enable", {}), ("w-1",)),
    "table list": Case(
        "clicks\norders\n",
        one("GET", "/api/v1/datasources", {"stats": [{"name": "clicks"}, {"name": "orders"}]}),
    ),
    "segment list": Case(
        "task-1/0\ntask-2/0\n", one("GET", f"{TABLE}/segments", SEGMENTS), ("clicks",)
    ),
    "segment mark-unused": Case(
        "clicks\n",
        one("DELETE", f"{DRUID}/datasources/clicks", MARKED),
        ("clicks", "--all", "--yes"),
    ),
    "segment mark-used": Case(
        "clicks\n", one("POST", f"{DRUID}/datasources/clicks", MARKED), ("clicks", "--all")
    ),
    "segment retention": Case("clicks\n", one("GET", f"{TABLE}/retention", RULE), ("clicks",)),
    "queue list": Case(
        f"{WORDS}\n{WORDS[:-12]} 'two words'\n",
        one("GET", "/api/v1/queues", [QUEUE, QUEUE | {"name": "two words"}]),
    ),
    "queue show": Case(f"{WORDS}\n", one("GET", QUEUES, QUEUE), PLACE),
    "queue failed": Case(f"{WORDS} 7\n", one("GET", "/api/v1/queues/failed", {"failed": [FAILED]})),
    "queue replay": Case(f"{WORDS}\n", one("POST", f"{QUEUES}/failed/7/replay", {}), (*PLACE, "7")),
    "queue drop": Case(
        f"{WORDS}\n", one("DELETE", f"{QUEUES}/failed/7", {}), (*PLACE, "7", "--yes")
    ),
    "queue repair": Case(
        f"{WORDS}\n", one("POST", f"{QUEUES}/repair", {"again": 3}), (*PLACE, "--yes")
    ),
    "execution dead list": Case("17\n", one("GET", DEAD, {"letters": [DEAD_INPUT], "next": None})),
    "execution dead show": Case("17\n", one("GET", f"{DEAD}/17", DEAD_INPUT), ("17",)),
    "execution dead replay": Case("17\n", one("POST", f"{DEAD}/17/replay", DEAD_INPUT), ("17",)),
    "execution dead drop": Case("17\n", one("DELETE", f"{DEAD}/17", DEAD_INPUT), ("17", "--yes")),
    "reports dead list": Case(
        "0 9\n", one("GET", "/dead-letters", {"letters": [letter(9)], "next": None})
    ),
    "reports dead show": Case("0 9\n", one("GET", "/dead-letters/0/9", letter(9)), ("0", "9")),
    "reports dead replay": Case(
        "0 9\n", one("POST", "/dead-letters/0/9/replay", letter(9, "stored")), ("0", "9")
    ),
    "reports dead drop": Case(
        "0 9\n", one("DELETE", "/dead-letters/0/9", letter(9, "dropped")), ("0", "9", "--yes")
    ),
    "quarantine list": Case(
        "clicks:1 17\n", one("GET", f"{OURS}/quarantine", page(RECORD).body), ("clicks",)
    ),
    "quarantine show": Case(
        "clicks:1 17\n",
        one("GET", f"{OURS}/quarantine/clicks/1/17", RECORD),
        ("clicks", "clicks:1", "17"),
    ),
    "quarantine send": Case(
        "clicks\n",
        one("POST", f"{OURS}/quarantine/replay", REPLAYED),
        ("clicks", "--topic", "clicks-again", "--yes"),
    ),
    "export list": Case(
        "clicks\n",
        one("GET", "/api/v1/exports", {"exports": [export(), export(format="iceberg")]}),
    ),
    "compaction run": Case(
        "compact_clicks_1\n",
        one("POST", f"{TABLE}/compact", {"compactions": [compaction()]}),
        ("clicks",),
    ),
    "compaction list": Case(
        "compact_clicks_2\ncompact_clicks_1\n",
        one("GET", "/api/v1/compactions", {"compactions": [compaction(2), compaction()]}),
    ),
    "compaction rule": Case("clicks\n", one("GET", f"{TABLE}/compaction", RULE), ("clicks",)),
    "compaction cancel": Case(
        "compact_clicks_1\n",
        one("POST", "/api/v1/compactions/compact_clicks_1/cancel", compaction(status="FAILED")),
        ("compact_clicks_1",),
    ),
    "access list": Case("ci\n"),
    "config list": Case("prod\n"),
}


@pytest.fixture
def prepared(
    tidegate: Tidegate, server: Overlord, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Tidegate:
    """A spec in a file, a token in a database and a profile, for the verbs that look at those."""
    monkeypatch.setenv("TIDEGATE_REPORTS_PERSISTER", server.url)  # in a persister's place, too
    monkeypatch.setenv("TIDEGATE_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "spec.json").write_text('{"type": "kafka"}')
    profiles = tmp_path / "config" / "tidegate" / "config.toml"
    profiles.parent.mkdir(parents=True)
    profiles.write_text('[profiles.prod]\noutput = "name"\n')
    return tidegate


def test_each_verb_with_forms_says_what_its_names_are() -> None:
    having = {verb for verb, found in VERBS.items() if "--output" in _options(found)}

    assert set(NAMES) == having
    known = {verb for verb, names in NAMES.items() if isinstance(names, Rows | About)}
    assert known - NEEDS_KAFKA == set(CASES)


@pytest.mark.parametrize("verb", [verb for verb, names in NAMES.items() if isinstance(names, Rows)])
def test_what_a_list_prints_is_what_a_verb_takes(verb: str) -> None:
    names = NAMES[verb]
    assert isinstance(names, Rows)
    if names.takes.startswith("-"):
        return
    words = names.takes.split()
    named = [" ".join(words[:number]) for number in (3, 2, 1)]
    taker = VERBS[next(name for name in named if name in VERBS)]
    arguments = [param for param in taker.params if param.param_type_name == "argument"]
    before = [word for word in words if word.isupper()]
    if words[-1].startswith("--"):  # an option takes the one word
        assert words[-1] in _options(taker)
        assert len(names.columns) == 1
    else:
        assert len(arguments) == len(before) + len(names.columns)


@pytest.mark.parametrize("verb", CASES)
def test_names_are_printed_one_a_line_and_nothing_else(
    prepared: Tidegate, server: Overlord, verb: str
) -> None:
    case = CASES[verb]
    for (method, path), body in case.replies.items():
        server.on(method, path, Reply(body))
    if verb == "access list":
        prepared("access", "worker-token", "create", "ci")

    ended = prepared(*verb.split(), *case.words, "-o", "name")

    assert (ended.out, ended.code) == (case.printed, 0), ended.err


@pytest.mark.parametrize("verb", [v for v, names in NAMES.items() if isinstance(names, Nameless)])
def test_a_verb_without_ids_refuses_and_says_what_to_use(
    tidegate: Tidegate, server: Overlord, verb: str
) -> None:
    names = NAMES[verb]
    assert isinstance(names, Nameless)
    needed = ["x" for param in VERBS[verb].params if param.required]

    ended = tidegate(*verb.split(), *needed, "-o", "name")

    assert (ended.code, ended.out, server.requests) == (2, "", [])
    assert names.instead in " ".join(ended.err.split())


def test_a_profile_asks_for_names_where_there_are_some(
    prepared: Tidegate, server: Overlord
) -> None:
    server.on("GET", "/api/v1/audit", Reply({"entries": []}))
    server.on("GET", f"{DRUID}/tasks", Reply([TASK]))

    assert prepared("--profile", "prod", "task", "list").out == "index_a\n"
    assert prepared("--profile", "prod", "audit").out.startswith("WHEN ")


def test_the_payload_of_an_event_is_no_name(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", f"{QUEUES}/failed/7", Reply(FAILED | {"payload": {"v": 1}}))

    assert tidegate("queue", "failed", *PLACE, "--seq", "7", "-o", "name").out == f"{WORDS} 7\n"


def test_what_is_not_published_has_no_name(tidegate: Tidegate, server: Overlord) -> None:
    ended = tidegate("segment", "list", "clicks", "--fresh", "-o", "name")

    assert (ended.code, server.requests) == (2, [])
    assert "leave --fresh out" in ended.err


def _options(found: TyperCommand | TyperGroup) -> set[str]:
    return {name for param in found.params for name in param.opts}
