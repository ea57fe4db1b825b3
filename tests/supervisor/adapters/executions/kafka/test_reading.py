"""The history that is read ahead: who takes it is woken, hears of errors, and bounds it."""

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from supervisor.adapters.executions.kafka import reading
from supervisor.adapters.executions.kafka.reading import HistoryReading
from supervisor.adapters.executions.kafka.rights import KafkaLogin
from supervisor.ports.flows.execution_log import LogAway, LogRefuses
from tests.waiting import wait_until

_PLACE = TopicPartition("history", 3, 0)
_WITHIN_S = 60.0


@dataclass
class Sent:
    """Stands for a message of the client."""

    at: int
    body: bytes = b"{}"
    fault: KafkaError | None = None

    def error(self) -> KafkaError | None:
        """Return what it says instead of a record."""
        return self.fault

    def offset(self) -> int:
        """Return its place."""
        return self.at

    def key(self) -> bytes:
        """Return its key."""
        return b"e1"

    def value(self) -> bytes:
        """Return its value."""
        return self.body


@dataclass
class Client:
    """Stands for a consumer: gives what is sent, one by one."""

    sent: list[Sent] = field(default_factory=list)
    away: KafkaException | None = None
    polls: int = 0
    came: threading.Event = field(default_factory=threading.Event)

    def assign(self, places: list[TopicPartition]) -> None:
        """Begin."""
        assert places == [_PLACE]

    def poll(self, within_s: float) -> Sent | None:
        """Return the next message."""
        self.polls += 1
        if self.sent:
            return self.sent.pop(0)
        if self.away is not None:
            raise self.away
        self.came.wait(within_s / 10)
        return None

    def consume(self, limit: int, within_s: float) -> list[Sent]:
        """Return no more at once."""
        assert limit > 0
        assert within_s == 0
        return []

    def get_watermark_offsets(self, _: TopicPartition, *, cached: bool) -> tuple[int, int]:
        """Return where the history ends."""
        assert cached
        return 0, 9


@pytest.fixture
def client() -> Client:
    """Nothing is sent yet."""
    return Client()


@pytest.fixture
def history(client: Client) -> Iterator[HistoryReading]:
    """It reads."""
    with closing(HistoryReading(client, _PLACE, KafkaLogin("p"))) as opened:  # type: ignore[arg-type]
        yield opened


def _error(code: int) -> KafkaError:
    return KafkaError(code)


def test_a_record_and_a_wake_each_end_a_wait(client: Client, history: HistoryReading) -> None:
    client.sent.append(Sent(4))
    assert [one.offset for one in history.take(10, 3_600)] == [4]
    assert history.behind() == 4

    waker = threading.Thread(target=history.wake)
    waker.start()
    assert history.take(10, 3_600) == []
    waker.join()
    client.sent.append(Sent(9, fault=_error(KafkaError._PARTITION_EOF)))
    wait_until(lambda: history.end_seen() == 9)
    assert history.behind() == 0


def test_what_was_read_before_an_error_comes_first(client: Client, history: HistoryReading) -> None:
    client.away = KafkaException(_error(KafkaError._ALL_BROKERS_DOWN))
    client.sent += [Sent(1), Sent(2)]

    assert [one.offset for one in history.take(1, _WITHIN_S)] == [1]
    assert [one.offset for one in history.take(1, _WITHIN_S)] == [2]
    for _ in range(2):
        with pytest.raises(LogAway, match="reading partition 3"):
            history.take(1, _WITHIN_S)


def test_a_history_that_does_not_go_back_far_enough_is_refused(
    client: Client, history: HistoryReading
) -> None:
    client.sent.append(Sent(0, fault=_error(KafkaError._AUTO_OFFSET_RESET)))

    with pytest.raises(LogRefuses, match="does not go back"):
        history.take(1, _WITHIN_S)


@pytest.mark.parametrize("body", [b"{}", b"x" * 1_000])
def test_no_more_is_read_than_may_lie_there(
    client: Client, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "AHEAD_MAX", 50)
    monkeypatch.setattr(reading, "_AHEAD_BYTES_MAX", 10_000)
    ahead = 50 if len(body) < 200 else 10
    client.sent += [Sent(number, body) for number in range(100)]
    with closing(HistoryReading(client, _PLACE, KafkaLogin("p"))) as history:  # type: ignore[arg-type]
        wait_until(lambda: client.polls == ahead)

        assert len(history.take(1_000, _WITHIN_S)) == ahead
        wait_until(lambda: client.polls == min(100, 2 * ahead))
