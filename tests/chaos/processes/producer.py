"""A producer that keeps its own books: what the broker has acknowledged, and where it lies."""

import json
import random
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from confluent_kafka import KafkaError, Message, Producer

_BURST_MAX = 5_000
_FLUSH_S = 60.0


@dataclass
class Ledger:
    """What the broker has taken.  Filled by one thread, read by others at any moment.

    A list, because it only grows: a dictionary cannot be copied while another thread fills it.
    """

    acknowledged: list[tuple[str, int, int]] = field(default_factory=list)
    """Id, partition, offset of each record."""
    refused: list[str] = field(default_factory=list)
    """Errors the broker gave; such a record may lie in the topic all the same."""

    def ends(self) -> dict[int, int]:
        """Return partition -> the offset after the last acknowledged record."""
        ends: dict[int, int] = {}
        for _, partition, offset in self.acknowledged[:]:
            ends[partition] = max(ends.get(partition, 0), offset + 1)
        return ends


class Stream:
    """Sends records at a steady rate until it is stopped."""

    def __init__(self, bootstrap: str, topic: str, *, seed: int, rate_per_s: int) -> None:
        """Send nothing yet."""
        self.ledger = Ledger()
        self._topic = topic
        self._rate = rate_per_s
        self._chance = random.Random(seed)
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 20,
                "message.timeout.ms": 300_000,  # a broker that is away for long loses nothing
                "log_level": 0,
            }
        )
        self._thread = threading.Thread(target=self._run, name="producer", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def stop(self) -> None:
        """Stop and wait until each record is acknowledged or refused."""
        self._stop.set()
        if self._thread.ident is None:
            return  # it never began
        self._thread.join(_FLUSH_S + 10)
        assert not self._thread.is_alive(), "the producer did not end"
        if self._error is not None:
            raise AssertionError("the producer failed") from self._error

    def _run(self) -> None:
        sent, began = 0, time.monotonic()
        try:
            while not self._stop.is_set():
                due = int((time.monotonic() - began) * self._rate) - sent
                for _ in range(min(due, _BURST_MAX)):
                    self._send(sent)
                    sent += 1
                self._producer.poll(0)
                self._stop.wait(0.05)
            left = self._producer.flush(_FLUSH_S)
            assert not left, f"{left} records not acknowledged within {_FLUSH_S} s"
        except BaseException as error:  # noqa: BLE001 -- raised again by `stop`
            self._error = error

    def _send(self, number: int) -> None:
        record_id = str(uuid.UUID(int=self._chance.getrandbits(128)))
        while True:
            try:
                self._producer.produce(
                    self._topic,
                    record(record_id, number),
                    on_delivery=lambda error, message: self._note(record_id, error, message),
                )
            except BufferError:
                self._producer.poll(0.2)
            else:
                return

    def _note(self, record_id: str, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.ledger.refused.append(str(error))
            return
        partition, offset = message.partition(), message.offset()
        assert partition is not None
        assert offset is not None
        self.ledger.acknowledged.append((record_id, partition, offset))


@contextmanager
def streaming(bootstrap: str, topic: str, *, seed: int, rate_per_s: int) -> Iterator[Stream]:
    """Give a stream that the body may start; it is stopped at the end."""
    stream = Stream(bootstrap, topic, seed=seed, rate_per_s=rate_per_s)
    try:
        yield stream
    finally:
        stream.stop()


def record(record_id: str, number: int) -> str:
    """Return one record as JSON; two days, so that each range has two segments."""
    value = {
        "id": record_id,
        "time": f"2026-01-{1 + number % 2:02d}T{number % 24:02d}:00:00.000Z",
        "user": f"user-{number % 97}",
        "amount": number % 1000,
        "price": number / 100,
        "text": "x" * 100,
    }
    return json.dumps(value, separators=(",", ":"))
