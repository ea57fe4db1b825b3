"""Quarantined records over HTTP: of one supervisor, by place, a page at a time."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from supervisor.core.model.rows import Segment
from supervisor.core.values.table_names import errors_table
from tasks.contract.messages import OffsetSpan
from tests.conformance.stories import attempt, opening, publication, segment
from tests.supervisor.api.world import NOON, SUPERVISORS, TOPIC, World, spec_document, task_ids

PATH = f"/api/v1/supervisors/{TOPIC}/quarantine"
_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


@dataclass(frozen=True)
class Raw:
    """One record of a story."""

    offset: int
    value: bytes | None
    reason: str = "not-json"
    partition: int = 0
    key: bytes | None = None


def publish(world: World, folder: Path, number: int, records: Sequence[Raw]) -> Segment:
    """Publish a range that has these errors and no rows."""
    task, generation = f"task-{number}", f"{TOPIC}:9{number}"
    path = f"{TOPIC}/data/{task}/errors-{number}.parquet"
    table = pa.table(
        {
            "__time": pa.array([NOON for _ in records], pa.timestamp("us", tz="UTC")),
            "topic": pa.array([TOPIC for _ in records]),
            "partition": pa.array([r.partition for r in records], pa.int32()),
            "offset": pa.array([r.offset for r in records], pa.int64()),
            "reason": pa.array([r.reason for r in records]),
            "key": pa.array([r.key for r in records], pa.binary()),
            "value": pa.array([r.value for r in records], pa.binary()),
            "headers": pa.array(
                [[{"key": "h", "value": b"\xff"}, {"key": "n", "value": None}] for _ in records],
                _HEADERS,
            ),
        }
    )
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / path)
    spans = tuple(
        OffsetSpan(topic=TOPIC, partition=p, first=min(found), last=max(found), rows=len(found))
        for p in sorted({r.partition for r in records})
        if (found := [r.offset for r in records if r.partition == p])
    )
    row = segment(path, NOON, generation, task)
    file = row.file.model_copy(update={"spans": spans, "rows": len(records)})
    error_segment = Segment(
        f"{task}/error-0", errors_table(TOPIC), TOPIC, generation, task, NOON, file
    )
    with world.store.leading(world.leadership.term()) as tx:
        tx.generations.open(TOPIC, TOPIC, opening(generation, number + 90, {}), NOON)
        tx.tasks.start(attempt(task, generation))
        tx.segments.add(publication(generation, task), [error_segment])
    return error_segment


@pytest.fixture
def records(world: World, tmp_path: Path) -> list[Segment]:
    assert world.post(SUPERVISORS, spec_document()).status_code == 200
    many = [Raw(offset, b"{" * offset, key=b"k") for offset in (3, 7, 8)]
    odd = [Raw(2, b"\xff\x00", "empty", 1), Raw(10_000, None, partition=1), Raw(9, b"x" * 5_000)]
    return [publish(world, tmp_path, 1, many), publish(world, tmp_path, 2, odd)]


def places(answer: dict[str, object]) -> list[tuple[int, int]]:
    found = answer["records"]
    assert isinstance(found, list)
    return [(row["partition"], row["offset"]) for row in found]


@pytest.mark.usefixtures("records")
def test_records_come_by_place_and_are_counted_by_reason(world: World) -> None:
    whole = world.get_object(PATH)

    assert places(whole) == [(0, 3), (0, 7), (0, 8), (0, 9), (1, 2), (1, 10_000)]
    assert whole["reasons"] == {"empty": 1, "not-json": 5}
    assert (whole["dataSource"], whole["next"]) == (f"{TOPIC}__errors", None)


@pytest.mark.usefixtures("records")
def test_pages_follow_each_other_without_a_gap(world: World) -> None:
    """Goal: each record is on one page, and the numbers are told once."""
    listed, after = [], ""
    for _ in range(3):
        page = world.get_object(f"{PATH}?limit=2{after}")
        listed += places(page)
        assert (page["reasons"] is None) == bool(after)
        after = f"&after={page['next']}"

    assert listed == [(0, 3), (0, 7), (0, 8), (0, 9), (1, 2), (1, 10_000)]
    assert after == "&after=None"


@pytest.mark.usefixtures("records")
def test_filters_narrow_records_and_numbers_alike(world: World) -> None:
    assert places(world.get_object(f"{PATH}?partition=1")) == [(1, 2), (1, 10_000)]
    of_reason = world.get_object(f"{PATH}?reason=empty")
    assert (places(of_reason), of_reason["reasons"]) == ([(1, 2)], {"empty": 1})
    assert places(world.get_object(f"{PATH}?topic={TOPIC}&partition=0&limit=1")) == [(0, 3)]
    nothing = world.get_object(f"{PATH}?topic=another")
    assert (places(nothing), nothing["reasons"]) == ([], {})


@pytest.mark.usefixtures("records")
def test_a_record_is_shown_as_it_was_sent(world: World) -> None:
    """Goal: bytes that are no text come in base64; a long value is cut in lists alone."""
    listed = world.get_object(f"{PATH}?partition=0&after={TOPIC}:0:8")["records"]
    whole = world.get_object(f"{PATH}/{TOPIC}/0/9")
    odd = world.get_object(f"{PATH}/{TOPIC}/1/2")
    bare = world.get_object(f"{PATH}/{TOPIC}/1/10000")

    assert isinstance(listed, list)
    assert [(len(r["value"]), r["valueBytes"], r["cut"]) for r in listed] == [(4_096, 5_000, True)]
    assert (whole["value"], whole["cut"], whole["time"]) == (
        "x" * 5_000,
        False,
        "2026-01-05T12:00:00Z",
    )
    assert (odd["value"], odd["valueBase64"]) == (None, base64.b64encode(b"\xff\x00").decode())
    assert odd["headers"] == [
        {"key": "h", "value": None, "valueBase64": "/w=="},
        {"key": "n", "value": None, "valueBase64": None},
    ]
    assert (bare["value"], bare["valueBase64"], bare["key"]) == (None, None, None)


def test_what_is_no_part_of_the_table_is_not_shown(world: World, records: list[Segment]) -> None:
    with world.store.leading(world.leadership.term()) as tx:
        tx.segments.mark_unused([records[0].id], NOON)

    assert places(world.get_object(PATH)) == [(0, 9), (1, 2), (1, 10_000)]


def test_what_is_not_there_is_told(world: World, records: list[Segment], tmp_path: Path) -> None:
    unknown = world.get_object(f"{PATH}/{TOPIC}/0/4", 404)
    (tmp_path / records[0].file.path).unlink()
    gone = world.get_object(PATH, 503)

    assert gone["type"] == "/problems/storage-unavailable"
    assert unknown["type"] == "/problems/record-not-found"
    world.get("/api/v1/supervisors/nobody/quarantine", 404)
    for wrong in ("limit=0", "limit=501", "partition=-1", "after=x", f"after={TOPIC}:0"):
        world.get(f"{PATH}?{wrong}", 400)


@pytest.mark.usefixtures("records")
def test_the_errors_table_is_a_table_of_its_own(world: World) -> None:
    """Goal: it is listed and read as every table, and none of it is in the other one."""
    tables = world.get_object("/api/v1/datasources")["dataSources"]
    errors = world.get_object(f"/api/v1/datasources/{TOPIC}__errors/files")["files"]
    rows = world.get_object(f"/api/v1/datasources/{TOPIC}/files")["files"]

    assert isinstance(tables, list)
    assert {TOPIC, f"{TOPIC}__errors"} <= set(tables)
    assert isinstance(errors, list)
    assert (len(errors), rows) == (2, [])
    world.get("/api/v1/datasources/nobody__errors/files", 404)


@pytest.mark.parametrize(("mode", "warned"), [("warn", 1), ("drop", 0), ("quarantine", 0)])
def test_a_spec_that_warns_warns_in_its_status(world: World, mode: str, warned: int) -> None:
    world.streams.create(TOPIC, 1)
    agent = world.agent("w1")
    agent.sync()
    document = spec_document(task_count=1, replicas=1)
    inner = document["spec"]
    assert isinstance(inner, dict)
    inner["tuningConfig"] = {"type": "kafka", "badRecords": mode}
    world.post(SUPERVISORS, document)
    world.settle()
    world.round([agent])
    [(_, task_id)] = task_ids([agent])
    agent.read(task_id, 40, rejected=3)
    agent.sync()

    warnings = world.payload()["warnings"]

    assert isinstance(warnings, list)
    warning = "3 records of the ranges that are read now cannot be read: see parseErrors"
    assert warnings == [warning] * warned


@pytest.mark.usefixtures("records")
def test_records_are_counted_by_time_reason_and_partition(world: World) -> None:
    by_hour = world.get_object(f"{PATH}/summary")
    by_day = world.get_object(f"{PATH}/summary?bucket=day&partition=1&reason=empty")

    of_zero = {"topic": TOPIC, "partition": 0, "reason": "not-json", "records": 4}
    of_one = {"topic": TOPIC, "partition": 1, "reason": "not-json", "records": 1}
    odd = {"topic": TOPIC, "partition": 1, "reason": "empty", "records": 1}
    assert by_hour == {
        "supervisorId": TOPIC,
        "dataSource": f"{TOPIC}__errors",
        "bucket": "hour",
        "records": 6,
        "reasons": {"empty": 1, "not-json": 5},
        "undated": 0,
        "buckets": [
            {"start": "2026-01-05T12:00:00Z", "records": 6, "counts": [odd, of_zero, of_one]}
        ],
        "truncated": False,
    }
    assert by_day["buckets"] == [{"start": "2026-01-05T00:00:00Z", "records": 1, "counts": [odd]}]
    world.get(f"{PATH}/summary?bucket=year", 400)
    world.get("/api/v1/supervisors/nobody/quarantine/summary", 404)


def test_a_file_is_counted_once(world: World, records: list[Segment], tmp_path: Path) -> None:
    """Goal: what is counted is kept when more is published; a file that left is not."""
    before = world.get_object(f"{PATH}/summary")
    (tmp_path / records[0].file.path).unlink()
    publish(world, tmp_path, 3, [Raw(11, b"{")])
    after = world.get_object(f"{PATH}/summary")
    with world.store.leading(world.leadership.term()) as tx:
        tx.segments.mark_unused([records[0].id], NOON)
    left = world.get_object(f"{PATH}/summary")

    assert (before["records"], after["records"], left["records"]) == (6, 7, 4)
