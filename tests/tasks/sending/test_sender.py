"""The sender: nobody waits for it, nothing is lost uncounted, and it goes on where it has ended."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Lock

import pytest
from structlog.testing import capture_logs

from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of
from tasks.sending.log_tail import LogPiece, LogTail
from tasks.sending.sender import Sender, SenderOptions, pause_s
from tasks.sending.spool import Spool
from tasks.sending.transport import Outgoing, TransportAway
from tests.waiting import wait_until

QUICK = SenderOptions(look_s=0.02, backoff_min_s=0.02, backoff_max_s=0.05)


class Topic:
    """A transport that keeps what it is given, and fails or hangs when a test says so."""

    refused_total = 0

    def __init__(self) -> None:
        self.kept: list[ReportRecord] = []
        self.away = ""
        self.free = Event()
        self.free.set()
        self._lock = Lock()

    def send(self, batch: Sequence[Outgoing]) -> None:
        self.free.wait()
        if self.away:
            raise TransportAway(self.away)
        with self._lock:
            self.kept += [ReportRecord.from_json(each.body) for each in batch]

    def close(self) -> None:
        """Keep nothing open."""

    def ids(self) -> set[str]:
        with self._lock:
            return {record.record_id for record in self.kept}


class HangingSpool(Spool):
    """A spool on a disk that hangs until it is let go."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.free = Event()

    def append(self, records: Sequence[bytes]) -> int:  # type: ignore[override]
        self.free.wait()
        return super().append(records)


def _record(place: int, kind: RecordType = RecordType.TASK_RESULT) -> ReportRecord:
    return ReportRecord(
        type=kind,
        record_id=record_id_of("task-1", 0, kind, place),
        subject="task-1",
        origin=RecordOrigin.STREAM,
        at=datetime(2026, 3, 1, tzinfo=UTC),
        seq=place,
    )


def _log_record(piece: LogPiece) -> ReportRecord:
    kind = RecordType.LOG_CHUNK
    return ReportRecord(
        type=kind,
        record_id=record_id_of(piece.task, 0, kind, piece.offset),
        subject=piece.task,
        origin=RecordOrigin.STREAM,
        at=datetime(2026, 3, 1, tzinfo=UTC),
        offset=piece.offset,
        final=piece.ends,
        payload={"text": piece.text},
    )


@contextmanager
def _sending(
    folder: Path, topic: Topic, spool: Spool | None = None, options: SenderOptions = QUICK
) -> Iterator[Sender]:
    (folder / "logs").mkdir(exist_ok=True)
    logs = LogTail(folder / "logs", lambda _: False)
    sender = Sender(spool or Spool(folder / "spool"), logs, topic, _log_record, options)
    sender.start()
    try:
        yield sender
    finally:
        sender.stop()


def test_what_is_offered_arrives_once(tmp_path: Path) -> None:
    topic = Topic()
    with _sending(tmp_path, topic) as sender:
        for place in range(200):
            assert sender.offer(_record(place), 300)
        wait_until(lambda: len(topic.ids()) == 200)
        wait_until(lambda: sender.status().spool_bytes == 0)

    assert len(topic.kept) == 200


def test_a_topic_that_is_away_costs_nothing_and_is_named(tmp_path: Path) -> None:
    topic = Topic()
    topic.away = "no broker answers at kafka:9092"
    with _sending(tmp_path, topic) as sender:
        sender.offer(_record(0), 300)
        wait_until(lambda: sender.status().trouble == topic.away)
        wait_until(lambda: sender.status().unsent_s > 0)
        assert sender.status().spool_bytes > 0

        topic.away = ""

        wait_until(lambda: len(topic.kept) == 1)
        wait_until(lambda: sender.status().trouble == "")
        assert sender.status().lost == 0


def test_a_disk_that_takes_nothing_is_said_once_and_each_record_counted(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("a file in its place")
    with capture_logs() as lines, _sending(tmp_path, Topic()) as sender:
        for place in range(3):
            sender.offer(_record(place), 300)
            wait_until(lambda place=place: sender.status().lost == place + 1)  # type: ignore[misc]  # bound

    warned = [line for line in lines if "takes nothing" in str(line["event"])]
    assert [line["log_level"] for line in warned] == ["warning"]


@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0])
def test_a_wait_is_spread_and_never_shorter_than_what_a_persister_asks_for(chance: float) -> None:
    assert 5.0 <= pause_s(5.0, 30.0, chance) <= 6.25
    assert 0.5 <= pause_s(0.0, 1.0, chance) <= 1.0
    assert pause_s(5.0, 1.0, 0.0) < pause_s(5.0, 1.0, 1.0)


def test_a_process_goes_on_with_what_the_one_before_has_left(tmp_path: Path) -> None:
    topic = Topic()
    topic.away = "gone"
    with _sending(tmp_path, topic) as sender:
        for place in range(20):
            sender.offer(_record(place), 300)
    topic.away = ""

    with _sending(tmp_path, topic):
        wait_until(lambda: len(topic.ids()) == 20)


def test_a_disk_that_hangs_holds_nobody_up_and_its_drops_are_counted(tmp_path: Path) -> None:
    """Goal: all results arrive, the rest is counted in what arrives."""
    topic, spool = Topic(), HangingSpool(tmp_path / "spool")
    options = SenderOptions(backlog_bytes=30_000, look_s=0.02)
    with _sending(tmp_path, topic, spool, options) as sender:
        for place in range(1_000):
            sender.offer(_record(place, RecordType.PROGRESS), 300)
            sender.offer(_record(place), 300)
        assert sender.status().dropped[RecordType.PROGRESS] > 0

        spool.free.set()

        wait_until(lambda: {_record(n).record_id for n in range(1_000)} <= topic.ids())
        wait_until(lambda: sender.status().backlog_bytes == 0)
        wait_until(lambda: sender.status().spool_bytes == 0)
        dropped = sender.status().dropped[RecordType.PROGRESS]
    arrived = sum(record.type is RecordType.PROGRESS for record in topic.kept)
    assert arrived + dropped == 1_000
    assert sum(record.dropped.get(RecordType.PROGRESS, 0) for record in topic.kept) == dropped


def test_a_topic_that_hangs_does_not_hold_up_the_end_of_the_process(tmp_path: Path) -> None:
    topic = Topic()
    topic.free.clear()
    with _sending(tmp_path, topic, options=SenderOptions(stop_s=0.1)) as sender:
        sender.offer(_record(0), 300)
        wait_until(lambda: sender.status().spool_bytes > 0)
    topic.free.set()

    with _sending(tmp_path, topic):
        wait_until(lambda: topic.ids() == {_record(0).record_id})


def test_logs_are_sent_to_their_ends(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "task-9.log").write_text("line\n" * 100_000)
    topic = Topic()
    with _sending(tmp_path, topic):
        wait_until(lambda: any(record.final for record in topic.kept))

    text = "".join(str(record.payload["text"]) for record in topic.kept)
    assert text == "line\n" * 100_000
    assert len(topic.kept) > 5


def test_logs_that_did_not_arrive_are_sent_again(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "task-9.log").write_text("line\n")
    topic = Topic()
    topic.away = "gone"
    with _sending(tmp_path, topic) as sender:
        wait_until(lambda: sender.status().trouble == "gone")
        topic.away = ""
        wait_until(lambda: [record.final for record in topic.kept] == [True])


@pytest.mark.parametrize("body", [{"v": 2, "subject": 7}, {"v": 2, "colour": "blue"}])
def test_a_record_of_another_release_is_sent_as_it_is(
    tmp_path: Path, body: dict[str, object]
) -> None:
    """Goal: what an older release cannot read does not stop the rest; the persister judges it."""
    spool = Spool(tmp_path / "spool")
    spool.append([json.dumps(body).encode()])
    sent: list[Outgoing] = []

    class Raw(Topic):
        def send(self, batch: Sequence[Outgoing]) -> None:
            sent.extend(batch)

    with _sending(tmp_path, Raw(), spool):
        wait_until(lambda: [json.loads(each.body) for each in sent] == [body])
    assert sent[0].key == ""
