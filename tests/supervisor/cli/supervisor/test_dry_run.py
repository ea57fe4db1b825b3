"""`apply --dry-run`, `diff` and `sample`: what they ask, print and answer by their exit code."""

import json
from pathlib import Path

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

BASE = "/druid/indexer/v1/supervisor"
VALIDATE = "/api/v1/supervisors/validate"
SAMPLER = "/druid/indexer/v1/sampler"
GOOD = {
    "type": "kafka",
    "spec": {
        "dataSchema": {
            "dataSource": "clicks",
            "timestampSpec": {"column": "t"},
            "granularitySpec": {"rollup": False},
        },
        "ioConfig": {
            "topic": "clicks",
            "consumerProperties": {"bootstrap.servers": "kafka:9092"},
            "inputFormat": {"type": "json"},
        },
    },
}
CHANGE = {"field": "/spec/ioConfig/replicas", "from": 1, "to": 2, "effect": "hot"}


def verdict(**members: object) -> Reply:
    body = {
        "id": "clicks",
        "valid": True,
        "errors": [],
        "warnings": [],
        "spec": {},
        "connect": None,
        "exists": True,
        "changes": [],
        "restarts": "none",
        "restartsWhat": "nothing changes",
    }
    return Reply(body | members)


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "spec.json").write_text(json.dumps(GOOD))
    return "spec.json"


def test_a_dry_run_at_the_server_shows_what_would_be(
    tidegate: Tidegate, server: Overlord, file: str
) -> None:
    partitions = [{"partition": 0, "earliest": 5, "latest": 15}]
    topics = [{"topic": "clicks", "partitions": partitions}]
    connect = {"reachable": True, "topics": topics, "error": None}
    server.on("POST", VALIDATE, verdict(changes=[CHANGE], connect=connect, warnings=["w"]))

    ended = tidegate("supervisor", "apply", "-f", file, "--dry-run=server")

    assert ended.code == 0, ended.err
    assert ended.out.splitlines() == [
        "FIELD                    FROM  TO  EFFECT",
        "/spec/ioConfig/replicas  1     2   hot",
        "clicks would be taken: nothing changes",
    ]
    assert "warning: w" in ended.err
    assert "topic clicks: 1 partitions, 10 offsets" in ended.err
    [request] = server.requests
    assert (json.loads(request.body), request.query["connect"]) == (GOOD, ["true"])


def test_a_dry_run_of_a_bad_spec_fails_with_each_field(
    tidegate: Tidegate, server: Overlord, file: str
) -> None:
    wrong = {"pointer": "/spec/ioConfig/topicc", "message": "unknown field", "hint": "topic?"}
    server.on("POST", VALIDATE, verdict(valid=False, errors=[wrong], spec=None))

    for arguments in (("apply", "--dry-run=server"), ("diff",)):
        ended = tidegate("supervisor", *arguments, "-f", file)
        assert ended.code == 1
        assert "/spec/ioConfig/topicc: unknown field (topic?)" in ended.err


def test_an_unreachable_broker_is_a_warning(
    tidegate: Tidegate, server: Overlord, file: str
) -> None:
    connect = {"reachable": False, "topics": [], "error": "no answer from kafka:9092"}
    server.on("POST", VALIDATE, verdict(connect=connect))

    ended = tidegate("supervisor", "apply", "-f", file, "--dry-run=server")

    assert (ended.code, "warning: no answer from kafka:9092" in ended.err) == (0, True)


def test_a_dry_run_as_json_is_the_answer_itself(
    tidegate: Tidegate, server: Overlord, file: str
) -> None:
    server.on("POST", VALIDATE, verdict(), verdict(valid=False))

    good = tidegate("supervisor", "apply", "-f", file, "--dry-run=server", "-o", "json")
    bad = tidegate("supervisor", "apply", "-f", file, "--dry-run=server", "-o", "json")

    assert (good.code, json.loads(good.out)) == (0, verdict().body)
    assert (bad.code, json.loads(bad.out)["valid"]) == (1, False)


def test_a_dry_run_here_needs_no_server(
    tidegate: Tidegate, server: Overlord, file: str, tmp_path: Path
) -> None:
    (tmp_path / "bad.json").write_text(json.dumps(GOOD).replace("topic", "topicc"))
    (tmp_path / "broken.json").write_text("{oops")

    good = tidegate("supervisor", "apply", "-f", file, "--dry-run=client")
    bad = tidegate("supervisor", "apply", "-f", "bad.json", "--dry-run=client")
    broken = tidegate("supervisor", "apply", "-f", "broken.json", "--dry-run=client")

    assert (good.code, good.out) == (0, "clicks is a good spec; no server was asked\n")
    assert (bad.code, broken.code) == (1, 1)
    assert "did you mean topic?" in bad.err
    assert "line 1 column 2" in broken.err
    assert server.requests == []


@pytest.mark.parametrize(
    ("reply", "code", "message"),
    [
        (verdict(), 0, "clicks is the same"),
        (verdict(changes=[CHANGE]), 1, "clicks differs"),
        (verdict(exists=False), 1, "clicks is not there: it would be made"),
    ],
)
def test_a_diff_says_by_its_code_whether_there_is_one(
    tidegate: Tidegate, server: Overlord, file: str, reply: Reply, code: int, message: str
) -> None:
    server.on("POST", VALIDATE, reply)

    ended = tidegate("supervisor", "diff", "-f", file)

    assert (ended.code, message in ended.err) == (code, True)
    assert ("/spec/ioConfig/replicas" in ended.out) == ("differs" in message)
    assert server.requests[0].query["connect"] == ["false"]


DATA = [
    {"topic": "c", "partition": 0, "offset": 7, "input": {}}
    | {"parsed": {"__time": 1_700_000_000_123, "user": "ann", "n": None}},
    {"topic": "c", "partition": 1, "offset": 8, "input": {"raw": "x\x1b[31m"}, "reason": "not-json"}
    | {"unparseable": True, "error": "not-json"},
    {"topic": "c", "partition": 1, "offset": 9, "input": {"user": "b"}, "reason": "filtered"},
]
SAMPLED = {
    "numRowsRead": 3,
    "numRowsIndexed": 1,
    "logicalSegmentSchema": [{"name": name, "type": "STRING"} for name in ("__time", "user", "n")],
    "data": DATA,
}


def test_a_sample_of_a_file_is_a_table_of_rows_and_reasons(
    tidegate: Tidegate, server: Overlord, file: str
) -> None:
    server.on("POST", SAMPLER, Reply(SAMPLED))

    ended = tidegate("supervisor", "sample", "-f", file, "--limit", "3", "--within", "5")

    assert ended.code == 0, ended.err
    assert [line.split() for line in ended.out.splitlines()] == [
        ["RECORD", "__time", "user", "n", "WHY", "NOT"],
        ["0:7", "2023-11-14T22:13:20.123Z", "ann"],
        ["1:8", "not-json:", "x\\x1b[31m"],
        ["1:9", "filtered:", '{"user":', '"b"}'],
    ]
    assert "3 records: 1 rows, 1 that cannot be read, 1 that the spec leaves out" in ended.err
    sent = json.loads(server.requests[0].body)
    config = {"numRows": 3, "timeoutMs": 5_000}
    assert sent == {"type": "kafka", "spec": GOOD, "samplerConfig": config}


def test_a_sample_of_a_supervisor_takes_its_spec(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", f"{BASE}/clicks", Reply(GOOD))
    server.on("POST", SAMPLER, Reply(SAMPLED))

    ended = tidegate("supervisor", "sample", "clicks", "-o", "json")

    assert json.loads(ended.out) == SAMPLED
    assert json.loads(server.requests[1].body)["spec"] == GOOD


def test_records_without_a_format_are_shown_as_they_are(
    tidegate: Tidegate, server: Overlord, file: str
) -> None:
    row = {"topic": "c", "partition": 0, "offset": 7, "input": {"raw": "a line"}}
    body = {"numRowsRead": 1, "numRowsIndexed": 0, "logicalSegmentSchema": [], "data": [row]}
    server.on("POST", SAMPLER, Reply(body), Reply(body | {"data": []}))

    ended = tidegate("supervisor", "sample", "-f", file)
    empty = tidegate("supervisor", "sample", "-f", file)

    assert ended.out.splitlines() == ["RECORD  INPUT", "0:7     a line"]
    assert (empty.code, "There are no records." in empty.err) == (0, True)


def test_a_sample_wants_an_id_or_a_file_and_passes_reasons_on(
    tidegate: Tidegate, server: Overlord, file: str
) -> None:
    server.refuse("POST", SAMPLER, 400, detail="topic clicks does not exist")

    assert tidegate("supervisor", "sample").code == 2
    assert tidegate("supervisor", "sample", "clicks", "-f", file).code == 2
    refused = tidegate("supervisor", "sample", "-f", file)
    assert (refused.code, "topic clicks does not exist" in refused.err) == (1, True)


def test_a_dry_run_of_a_folder_tells_of_each_spec(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    """Goal: a spec that would be refused does not hide the others."""
    folder = tmp_path / "specs"
    folder.mkdir()
    (folder / "a.yaml").write_text("type: kafka\n")
    (folder / "b.json").write_text(json.dumps(GOOD))
    wrong = {"pointer": "/spec", "message": "is missing", "hint": ""}
    bad = verdict(valid=False, errors=[wrong], spec=None)
    server.on("POST", VALIDATE, bad, verdict(changes=[CHANGE]), bad, verdict())

    ended = tidegate("supervisor", "apply", "-f", "specs", "--dry-run=server", "--only-new")
    as_json = tidegate("supervisor", "apply", "-f", "specs", "--dry-run=server", "-o", "json")

    assert (ended.code, "/spec: is missing" in ended.err) == (1, True)
    assert ended.out.splitlines()[-1] == "clicks would be taken: nothing changes"
    assert [json.loads(request.body) for request in server.requests[:2]] == [
        {"type": "kafka"},
        GOOD,
    ]
    assert {request.headers["if-none-match"] for request in server.requests[:2]} == {"*"}
    assert as_json.code == 1
    assert [row["answer"]["valid"] for row in json.loads(as_json.out)] == [False, True]


def test_a_diff_and_a_sample_take_one_spec_in_yaml(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    (tmp_path / "one.yaml").write_text("type: kafka\n")
    (tmp_path / "two.yaml").write_text("type: kafka\n---\ntype: kafka\n")
    server.on("POST", VALIDATE, verdict())
    server.on("POST", SAMPLER, Reply(SAMPLED))

    assert tidegate("supervisor", "diff", "-f", "one.yaml").code == 0
    assert tidegate("supervisor", "sample", "-f", "one.yaml").code == 0
    several = tidegate("supervisor", "diff", "-f", "two.yaml")

    assert json.loads(server.requests[0].body) == {"type": "kafka"}
    assert json.loads(server.requests[1].body)["spec"] == {"type": "kafka"}
    assert (several.code, "two.yaml has 2 specs" in several.err) == (1, True)
