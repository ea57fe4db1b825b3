"""What a persister promises, P1 to P16 by name: over a real broker, on each kind of stores.

There is no P6.

Slow: the two ways of stores that few choose, files and PostgreSQL, are tried at length alone.
"""

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from supervisor.adapters.manual_clock import ManualClock
from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.files import FileReports
from supervisor.adapters.reports.logs.memory_logs import MemoryLogStore
from supervisor.adapters.reports.logs.segments import SegmentLogStore
from supervisor.adapters.reports.logs.sql_logs import SqlLogStore
from supervisor.adapters.reports.memory import MemoryReports
from supervisor.adapters.reports.sql import SqlReports
from supervisor.app.archive import PrimaryToo, TransportSender
from supervisor.core.reports.status import BackOff, PersisterState, StoreOutcome
from supervisor.dev.broker import Broker
from supervisor.ports.reports.logs import LogStore
from supervisor.ports.reports.reports import ReportQuery, ReportStore
from supervisor.ports.store_problems import StoreAway
from supervisor.reports.pipeline import PipelineOptions
from supervisor.reports.retention import ReportRetention
from tasks.contract.messages import FailureCode
from tasks.reporting.levels import TaskEnding, read_levels
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord
from tasks.sending.kafka_transport import KafkaTransport
from tasks.sending.transport import Outgoing
from tests.conformance.reports.promise_site import PromiseSite, StoreDoor
from tests.supervisor.reports.groups import ReaderGroup
from tests.supervisor.reports.shelves import NOW, garbage, record
from tests.waiting import wait_until

pytestmark = pytest.mark.kafka

_KINDS = [
    "memory",
    "sqlite",
    pytest.param("files", marks=pytest.mark.long),
    pytest.param("postgresql", marks=[pytest.mark.long, pytest.mark.pg]),
]


@pytest.fixture(params=_KINDS)
def site(request: pytest.FixtureRequest, broker: Broker, tmp_path: Path) -> Iterator[PromiseSite]:
    """A site over each kind of stores."""
    reports: ReportStore = MemoryReports()
    logs: LogStore = MemoryLogStore()
    database: ReportDatabase | None = None
    if request.param in {"sqlite", "postgresql"}:
        database = ReportDatabase(request.getfixturevalue(f"reports_{request.param}_url"))
        reports = SqlReports(database)
        logs = SqlLogStore(database)
        if request.param == "postgresql":
            logs = SegmentLogStore(database, tmp_path / "logs", "p", ManualClock(NOW))
    elif request.param == "files":
        reports = FileReports(tmp_path / "reports")
    yield PromiseSite(ReaderGroup(broker.bootstrap), StoreDoor(reports), logs)
    for each in (logs, reports, database):
        if each is not None:
            each.close()


def _named(*names: str) -> list[ReportRecord]:
    return [record(name) for name in names]


def test_p01_five_reports_are_five_rows_and_no_lag(site: PromiseSite) -> None:
    topic = site.group.topic("completed.w1")
    site.send(topic, *_named("a", "b", "c", "d", "e"))
    with site.persister().running() as member:
        wait_until(lambda: site.subjects() == ["a", "b", "c", "d", "e"])
        wait_until(lambda: site.lag(member) == 0)


def test_p02_a_repeat_is_a_conflict_and_no_row(site: PromiseSite) -> None:
    topic = site.group.topic("completed.w1")
    r1, r2, r3, r4 = _named("r1", "r2", "r3", "r4")
    site.send(topic, r1, r2, r1, r3, r4)
    with site.persister().running() as member:
        wait_until(lambda: site.group.committed(topic) == 5)
        wait_until(lambda: site.lag(member) == 0)
    assert site.subjects() == ["r1", "r2", "r3", "r4"]
    assert site.counted(StoreOutcome.CONFLICT) == 1


def test_p03_results_and_combined_are_stored_and_completions_counted(site: PromiseSite) -> None:
    topic = site.group.topic()
    site.send(
        topic,
        record("one", RecordType.TASK_RESULT, status="SUCCESS"),
        record("two", RecordType.COMBINED, log="a line\n", rows=3),
        record("three", RecordType.COMPLETION),
    )
    with site.persister().running():
        wait_until(lambda: site.group.committed(topic) == 3)
    assert site.subjects() == ["one", "two"]
    assert site.counted(StoreOutcome.SKIPPED) == 1
    parts = site.logs.read("two", 0, 0, 1_000)
    assert b"".join(each.content for each in parts) == b"a line\n"


def test_p04_what_is_no_record_is_a_dead_letter_with_a_reason(site: PromiseSite) -> None:
    topic = site.group.topic()
    site.send(topic, *_named("a"), garbage(), *_named("b"))
    with site.persister().running() as member:
        wait_until(lambda: site.group.committed(topic) == 3)
        wait_until(lambda: site.lag(member) == 0)
    assert site.subjects() == ["a", "b"]
    [letter] = site.letters()
    assert letter["tidegate.topic"] == topic.encode()
    assert b"version" in (letter["tidegate.reason"] or b"")


def test_p05_a_topic_that_is_new_is_read_and_the_old_ones_meanwhile(site: PromiseSite) -> None:
    old = site.group.topic("completed.w1")
    with site.persister().running():
        site.send(old, *_named("a"))
        wait_until(lambda: site.subjects() == ["a"])
        new = site.group.topic("completed.w7")
        site.send(new, *_named("b"))
        site.send(old, *_named("c"))
        wait_until(lambda: site.subjects() == ["a", "b", "c"])


def test_p07_a_store_that_is_away_loses_nothing_and_stops_it_at_last(site: PromiseSite) -> None:
    """The lengths of its waits: `test_waits_double_up_to_their_bound`."""
    topic = site.group.topic()
    site.pipe = PipelineOptions(writers=2, back_off=BackOff(0.01, 0.02, tries_max=20))
    member = site.persister()
    api = site.api_of(member)

    def state() -> str:
        return str(api.get("/ping").json()["state"])

    with member.running():
        wait_until(lambda: state() == "RUNNING")
        site.reports.weather.failures = [StoreAway("connection refused")] * 3
        site.send(topic, *_named("a", "b"))
        wait_until(lambda: site.subjects() == ["a", "b"])
        assert member.pipeline.meters.counts().failed_tries == 3

        site.reports.weather.lasting = StoreAway("connection refused")
        site.send(topic, *_named("c"))
        wait_until(lambda: api.get("/ping").status_code == 503)
        assert (state(), site.group.committed(topic)) == (PersisterState.STOPPED, 2)
        site.reports.weather.lasting = None
        assert site.subjects() == ["a", "b"]
        member.pipeline.resume()
        wait_until(lambda: site.group.committed(topic) == 3)
        assert (api.get("/ping").status_code, state()) == (200, "RUNNING")
    assert site.subjects() == ["a", "b", "c"]


def test_p08_no_span_of_time_has_more_inserts_than_its_rate(site: PromiseSite) -> None:
    """A burst is let through at the pace, and the lag goes back to 0."""
    topic = site.group.topic()
    rate, number = 1_000, 1_500
    site.pipe = PipelineOptions(writers=4, records_per_s=rate)
    site.send(topic, *(record(f"task-{n}") for n in range(number)))
    with site.persister().running() as member:
        wait_until(lambda: site.group.committed(topic) == number)
        wait_until(lambda: site.lag(member) == 0)
    times = site.reports.batches
    # What is counted first was taken before: of its batch the pace does not bound the time.
    stored = sum(size for _, size in times[8:])
    assert stored <= rate * 1.05 * (times[-1][0] - times[0][0]) + rate * 0.1
    assert len(site.rows()) == number


def test_p09_batches_form_under_pressure_alone_and_a_bad_record_fails_alone(
    site: PromiseSite,
) -> None:
    topic = site.group.topic()
    site.pipe = PipelineOptions(writers=1)
    with site.persister().running() as member:
        site.send(topic, *_named("first"))
        wait_until(lambda: site.subjects() == ["first"])
        assert [size for _, size in site.reports.batches] == [1]

        site.reports.weather.gate = threading.Event()
        site.send(topic, *_named("held"))
        wait_until(lambda: member.pipeline.status().in_flight.records == 1)
        bad = record("bad").to_json().replace('"payload":{', '"payload":{"a":"\\u0000",').encode()
        site.send(topic, *(record(f"t{n}") for n in range(50)), bad, *_named("last"))
        wait_until(lambda: member.pipeline.status().in_flight.records == 53)
        site.reports.weather.gate.set()
        wait_until(lambda: site.group.committed(topic) == 54)
    assert len(site.reports.batches) < 20
    assert set(site.subjects()) == {"first", "held", "last", *(f"t{n}" for n in range(50))}
    assert len(site.letters()) == 1


def test_p10_each_store_returns_what_was_sent(site: PromiseSite) -> None:
    """Reads go to the primary store: what is sent and not stored yet is not listed."""
    topic = site.group.topic()
    sent = [record(f"task-{n}", rows=n, text="é\n") for n in range(20)]
    site.send(topic, *sent)
    assert site.rows() == []
    with site.persister().running():
        wait_until(lambda: site.group.committed(topic) == 20)
    assert [site.reports.store.get(each.record_id) for each in sent] == sent
    found = site.reports.store.list(ReportQuery(subject="task-7"), 10)
    assert [each.payload for each in found] == [{"rows": 7, "text": "é\n"}]


def test_p11_a_report_is_in_the_primary_store_at_once_and_stays_one_row(site: PromiseSite) -> None:
    topic = site.group.topic("completed-others")
    transport = KafkaTransport({"bootstrap.servers": site.group.bootstrap}, topic, "leader")
    sender = PrimaryToo(TransportSender(transport), site.reports.store)
    reports = [record("one", RecordType.TASK_RESULT), record("one")]
    sender.send(reports)
    sender.close()
    assert [each.subject for each in site.rows()] == ["one", "one"]
    with site.persister().running():
        wait_until(lambda: site.group.committed(topic) == 2)
    assert len(site.rows()) == 2
    assert site.counted(StoreOutcome.CONFLICT) == 2


def test_p12_what_is_too_large_is_cut_and_the_smaller_limit_of_a_topic_holds(
    site: PromiseSite,
) -> None:
    topic = site.group.topic(config={"max.message.bytes": "20000"})
    noise = "".join(f"{n * n:x}" for n in range(40_000))
    large = record("large", text=noise)
    transport = KafkaTransport({"bootstrap.servers": site.group.bootstrap}, topic, "w-1")
    transport.send([Outgoing(large.subject, large.to_json().encode())])
    transport.close()
    with site.persister().running():
        wait_until(lambda: site.group.committed(topic) == 1)
    [kept] = site.rows()
    assert kept.record_id == large.record_id
    assert kept.truncated is not None
    assert kept.truncated.original_bytes > 200_000 > kept.truncated.kept_bytes
    assert transport.refused_total == 0


def test_p13_at_the_level_failures_successes_are_skipped_unless_they_are_debugged(
    site: PromiseSite,
) -> None:
    topic = site.group.topic()
    levels, origin = read_levels("failures"), RecordOrigin.STREAM
    ends = {
        "good": (TaskEnding(succeeded=True), False),
        "debugged": (TaskEnding(succeeded=True), True),
        "failed": (TaskEnding(succeeded=False, failure=FailureCode.TOPIC_CHANGED), False),
        "silent": (TaskEnding(succeeded=False), False),
    }
    for name, (ending, debug) in ends.items():
        wanted = levels.wants(origin, ending, debug=debug)
        kind = RecordType.TASK_RESULT if wanted else RecordType.COMPLETION
        site.send(topic, record(name, kind).model_copy(update={"debug": debug}))
    with site.persister().running():
        wait_until(lambda: site.group.committed(topic) == 4)
    assert site.subjects() == ["debugged", "failed", "silent"]
    assert site.counted(StoreOutcome.SKIPPED) == 1


def test_p14_metrics_have_what_there_is_to_watch(site: PromiseSite) -> None:
    topic = site.group.topic()
    member = site.persister()
    api = site.api_of(member)
    site.send(topic, *_named("a", "b", "a"), garbage())
    with member.running():
        wait_until(lambda: site.group.committed(topic) == 4)
        member.intake.read_lag()
        text = _metrics(api)
    for line in (
        "tidegate_persister_stored_total 2.0",
        "tidegate_persister_conflicts_total 1.0",
        "tidegate_persister_dead_letter_total 1.0",
        "tidegate_persister_failed_tries_total 0.0",
        'tidegate_persister_state{state="RUNNING"} 1.0',
    ):
        assert f"\n{line}\n" in text
    for name in ("bytes_total", "batch_seconds_count", f'lag{{topic="{topic}"}}'):
        assert f"\ntidegate_persister_{name} " in text


def _metrics(api: TestClient) -> str:
    return str(api.get("/metrics").text)


def test_p15_what_is_older_than_its_age_goes_in_batches(site: PromiseSite) -> None:
    topic = site.group.topic()
    age = timedelta(days=30)
    old = [
        record(f"old-{n}").model_copy(update={"at": NOW - age - timedelta(seconds=1)})
        for n in range(1_200)
    ]
    site.send(topic, *old, *_named("young"))
    with site.persister().running():
        wait_until(lambda: site.group.committed(topic) == 1_201)
    removed = list[int]()
    store = _Counts(site.reports.store, removed)
    retention = ReportRetention(store, site.logs, lambda: NOW, age, age)  # type: ignore[arg-type]  # a door
    assert retention.run_once() == 1_200
    assert site.subjects() == ["young"]
    assert max(removed) <= 1_000


class _Counts:
    """A report store that notes how much each deletion takes."""

    def __init__(self, store: ReportStore, removed: list[int]) -> None:
        self._store, self._removed = store, removed

    def delete_older_than(self, *wanted: object) -> int:
        number = self._store.delete_older_than(*wanted)  # type: ignore[arg-type]  # as it comes
        self._removed.append(number)
        return number

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)


@pytest.mark.long
def test_p16_of_two_persisters_the_other_serves_all_partitions(site: PromiseSite) -> None:
    """One that is killed: `tests/integration/reports/test_persister.py`."""
    topic = site.group.topic(partitions=4)
    one, other = site.persister(), site.persister()
    with one.running():
        with other.running():
            wait_until(lambda: one.intake.status().partitions == 2)
            wait_until(lambda: other.intake.status().partitions == 2)
            for partition in range(4):
                site.send(topic, record(f"both-{partition}"), partition=partition)
            wait_until(lambda: len(site.rows()) == 4)
        wait_until(lambda: one.intake.status().partitions == 4)
        for partition in range(4):
            site.send(topic, record(f"one-{partition}"), partition=partition)
        wait_until(lambda: len(site.rows()) == 8)
