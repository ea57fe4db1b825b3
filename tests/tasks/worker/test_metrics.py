"""What a scraper reads of a worker."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from tasks.contract.messages import FailureCode, PublishOutcome, TaskPhase
from tasks.ports import TaskError
from tasks.reporting.record import RecordType
from tasks.sending.sender import SenderStatus
from tasks.worker.http.metrics import ENDS, WorkerCollector
from tasks.worker.http.server import ControlServer
from tasks.worker.incarnations import Incarnation
from tasks.worker.metrics import STEPS, WorkerMeters
from tasks.worker.options import WorkerOptions
from tasks.worker.worker import Worker
from tests.tasks.memory import DOWN, at, desired, order, pause
from tests.tasks.worker.test_runner import Site as Yard
from tests.tasks.worker.worker_site import Site
from tests.tidy.sources import ROOT
from tests.waiting import wait_until

P = "tidegate_worker_"
TOKEN = "the-worker's-own"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    new_site = Site(tmp_path)
    yield new_site
    new_site.engine.release()
    new_site.overlord.fail(None)
    new_site.end()


def families(worker: Worker) -> dict[str, Metric]:
    """Scrape once."""
    answer = httpx.get(f"{worker.url}/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {family.name: family for family in text_string_to_metric_families(answer.text)}


def value(worker: Worker, name: str, **labels: str) -> float:
    """Return one sample; 0 if there is none."""
    samples = (s for family in families(worker).values() for s in family.samples)
    return next((s.value for s in samples if s.name == P + name and s.labels == labels), 0.0)


def published(site: Site) -> Worker:
    """Have a task pause, hear its end and publish."""
    site.overlord.list(desired("task-1"))
    worker = site.start()
    site.overlord.wait_report("task-1", lambda r: r.position == at(5))
    site.overlord.send("task-1", pause(2))
    site.overlord.wait_report("task-1", lambda r: r.phase is TaskPhase.PAUSED)
    site.overlord.send("task-1", order(3, end=at(5)))
    site.overlord.wait_report("task-1", lambda r: r.phase is TaskPhase.SUCCESS)
    return worker


def test_a_task_is_measured_from_its_first_batch_to_its_publish(site: Site) -> None:
    worker = published(site)
    of = {"supervisor": "clicks", "table": "clicks"}

    assert value(worker, "records_total", **of, outcome="processed") == 5
    assert value(worker, "records_total", **of, outcome="unparseable") == 0
    for step in ("look", "read", "journal", "merge", "publish"):
        assert value(worker, "step_seconds_count", step=step, outcome="done") >= 1, step
    assert value(worker, "pausing_seconds_count") == 1
    assert value(worker, "paused_seconds_count") == 1
    assert value(worker, "publish_answers_total", outcome="committed") == 1
    assert value(worker, "tasks_ended_total", status="SUCCESS", code="") == 1
    assert value(worker, "written_bytes_total", stage="batch") > 0
    assert value(worker, "syncs_total", outcome="done") >= 3


def test_rejected_records_are_counted_by_reason(site: Site) -> None:
    site.engine.rejected = {"not-json": 2, "filtered": 1}
    worker = published(site)
    of = {"supervisor": "clicks", "table": "clicks"}
    batches = value(worker, "step_seconds_count", step="read", outcome="done")

    assert batches >= 1
    assert value(worker, "rejected_total", **of, reason="not-json") == 2 * batches
    assert value(worker, "rejected_total", **of, reason="filtered") == batches
    assert value(worker, "rejected_total", **of, reason="not-avro") == 0


def test_slots_are_held_until_the_end_is_fixed(site: Site) -> None:
    site.engine.hold()
    site.overlord.list(desired("task-1"))
    worker = site.start()
    site.engine.wait_running("task-1")

    assert value(worker, "slots") == 4
    assert value(worker, "slots_used") == 1
    assert sum(s.value for s in families(worker)[f"{P}tasks"].samples) == 1

    site.overlord.send("task-1", order(2, end=at(5)))
    wait_until(lambda: value(worker, "slots_used") == 0)


def test_a_failed_task_tells_its_code(site: Site) -> None:
    site.engine.failure = TaskError(FailureCode.READ_FAILED, "the range cannot be read")
    site.overlord.list(desired("task-1"))
    worker = site.start()
    site.overlord.wait_report("task-1", lambda r: r.phase is TaskPhase.FAILED)

    assert value(worker, "tasks_ended_total", status="FAILED", code="READ_FAILED") == 1
    assert value(worker, "step_seconds_count", step="read", outcome="failed") == 1


def test_a_batch_beyond_the_end_is_counted_as_taken_back(site: Site) -> None:
    """Goal: what was read in vain can be told from what became rows."""
    site.overlord.list(desired("task-1"))
    worker = site.start()
    site.overlord.wait_report("task-1", lambda r: r.position == at(5))
    site.overlord.send("task-1", order(2, end=at(3)))
    site.overlord.wait_report("task-1", lambda r: r.phase is TaskPhase.SUCCESS)
    of = {"supervisor": "clicks", "table": "clicks"}

    kept = value(worker, "records_total", **of, outcome="processed")
    back = value(worker, "records_total", **of, outcome="taken_back")

    assert back > 0
    assert kept - back == 3


def test_overlords_that_do_not_answer_are_counted(site: Site) -> None:
    site.overlord.fail(DOWN)
    worker = site.start()

    wait_until(lambda: value(worker, "syncs_total", outcome="unanswered") >= 2)
    assert not families(worker)[f"{P}sync_age_seconds"].samples
    site.overlord.fail(None)
    wait_until(lambda: bool(families(worker)[f"{P}sync_age_seconds"].samples))


def test_the_life_before_is_told_by_its_reason(site: Site) -> None:
    worker = site.start()
    assert not families(worker)[f"{P}previous_end"].samples
    site.end()

    again = site.start()

    assert value(again, "previous_end", reason="stopped") == 1
    assert value(again, "engine_up") == 1
    assert value(again, "resident_bytes", process="worker") > 1_000_000


def test_the_page_lists_what_a_worker_exports(site: Site) -> None:
    worker = published(site)
    page = (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
    rows = re.findall(rf"^\| `({P}\w+)` \| (\w+) \|", page, re.MULTILINE)

    exported = {
        name + ("_total" if family.type == "counter" else ""): family.type
        for name, family in families(worker).items()
    }

    assert dict(rows) == exported


ALLOWED = {
    "code": {"", *(code.value for code in FailureCode)},
    "outcome": {outcome.value for outcome in PublishOutcome}
    | {"processed", "processed_with_error", "unparseable", "thrown_away"}
    | {"cancelled", "taken_back", "done", "failed", "unanswered", "fenced"},
    "process": {"worker", "spark"},
    "reason": set(ENDS),
    "stage": {"batch", "segment"},
    "state": {phase.value.lower() for phase in TaskPhase},
    "status": {"SUCCESS", "FAILED"},
    "step": {*STEPS.values(), "compact"},
    "type": {*RecordType, "spooled", "log"},
}


def test_labels_are_few_and_none_is_a_task(site: Site) -> None:
    worker = published(site)

    samples = [s for family in families(worker).values() for s in family.samples]

    for sample in samples:
        assert sample.labels.keys() <= ALLOWED.keys() | {"supervisor", "table", "le"}, sample
        for name, text in sample.labels.items():
            assert text in ALLOWED.get(name, {text}), sample
            assert "task-1" not in text, sample


def test_beyond_loopback_a_scraper_needs_the_workers_token(tmp_path: Path) -> None:
    options = WorkerOptions(
        "w-2", tmp_path, "warehouse", (), port=0, token=TOKEN, lists_to_anybody=False
    )
    yard = Yard(tmp_path)
    server = ControlServer(options, yard.roster)
    server.start()
    try:
        wanted = {"Authorization": f"Bearer {TOKEN}"}
        wrong = {"Authorization": "Bearer other"}
        answers = [httpx.get(f"{server.url}/metrics", headers=h) for h in ({}, wrong, wanted)]
    finally:
        server.close()
        yard.close()

    assert [answer.status_code for answer in answers] == [401, 403, 200]
    assert TOKEN not in answers[2].text


def test_two_workers_of_one_process_count_apart() -> None:
    one, other = WorkerMeters(), WorkerMeters()
    one.synced("done")

    assert one.silent_s is not None
    assert other.silent_s is None
    assert Incarnation(Path(), 1).previous_end == ""


def test_what_a_worker_could_not_report_is_counted_by_type(tmp_path: Path) -> None:
    unsent = SenderStatus(10, 20, 3.5, {RecordType.PROGRESS: 2}, 4, "no broker")
    yard = Yard(tmp_path)
    collector = WorkerCollector(
        yard.roster, WorkerMeters(), slots=1, reports=lambda: unsent, unsent_logs=lambda: 5
    )
    collected = {family.name: family for family in collector.collect()}
    yard.close()

    dropped = collected["tidegate_worker_report_dropped"].samples
    counts = {each.labels["type"]: each.value for each in dropped}
    assert (counts["progress"], counts["task_result"], counts["spooled"], counts["log"]) == (
        2,
        0,
        4,
        5,
    )
    [spooled] = collected["tidegate_worker_report_spool_bytes"].samples
    assert spooled.value == 20
