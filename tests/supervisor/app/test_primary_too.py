"""Reports that the leader writes into their store itself: there at once, once, never in the way."""

from collections.abc import Sequence
from datetime import UTC, datetime

from structlog.testing import capture_logs

from supervisor.adapters.reports.memory import MemoryReports
from supervisor.app.archive import PrimaryToo, TransportSender, sender_in
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.store_problems import StoreAway
from supervisor.settings.settings import Settings
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of
from tests.conformance.history.archive_story import Topic


class _Away(MemoryReports):
    """A store that takes nothing."""

    def put_many(self, records: Sequence[ReportRecord]) -> Sequence[StoreOutcome]:
        raise StoreAway(f"a story of {len(records)}")


def _of(kind: RecordType, place: int = 0) -> ReportRecord:
    at_offset = kind is RecordType.LOG_CHUNK
    return ReportRecord(
        type=kind,
        record_id=record_id_of("day:1", 0, kind, place),
        subject="day:1",
        origin=RecordOrigin.EXECUTION,
        at=datetime(2026, 3, 1, tzinfo=UTC),
        seq=None if at_offset else place,
        offset=place if at_offset else None,
        payload={"text": "a line\n"},
    )


def test_a_report_is_there_before_its_topic_is_read_and_once_afterwards() -> None:
    """Source: reports, P11."""
    topic = Topic(held=True)
    records = [_of(RecordType.TASK_REPORT), _of(RecordType.TASK_RESULT)]

    PrimaryToo(topic, topic.stored).send(records)
    assert [topic.stored.get(each.record_id) for each in records] == records

    topic.persist()
    assert topic.outcomes == [StoreOutcome.CONFLICT] * 2


def test_history_and_logs_go_their_one_way() -> None:
    topic = Topic(held=True)
    others = [_of(kind, 1) for kind in (RecordType.LOG_CHUNK, RecordType.EVENT, RecordType.AUDIT)]

    PrimaryToo(topic, topic.stored).send(others)

    assert topic.sent == others
    assert [topic.stored.get(each.record_id) for each in others] == [None] * 3


def test_a_store_that_is_away_costs_nothing_but_a_line_of_the_log() -> None:
    topic = Topic()
    sender = PrimaryToo(topic, _Away())

    with capture_logs() as lines:
        for place in range(3):
            sender.send([_of(RecordType.TASK_RESULT, place)])

    assert topic.outcomes == [StoreOutcome.STORED] * 3
    assert [line["why"] for line in lines] == ["a story of 1"]


def test_it_is_done_where_it_is_set() -> None:
    url, reports = "http://persister:8092", MemoryReports()
    plain = Settings(reports_persister=(url,))
    wanted = Settings(reports_persister=(url,), reports_store_in_primary=True)

    assert isinstance(sender_in(plain, "a", reports), TransportSender)
    assert isinstance(sender_in(wanted, "a", reports), PrimaryToo)
    assert isinstance(sender_in(wanted, "a"), TransportSender)
    assert sender_in(Settings(reports="off", reports_store_in_primary=True), "a", reports) is None
