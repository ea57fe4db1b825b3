"""A transaction that hangs: its records are in the topics, and its coordinator does not know it.

Kafka's own clients cannot do that, so this speaks the protocol: it gets the identity of a
transactional id, and appends records as that id's without a word to the coordinator.  The broker
must not ask the coordinator either, which `unverified` sees to.
"""

import itertools
import socket
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
)

from supervisor.ports.flows.execution_log import LogEntry, LogTopic
from tests.waiting import wait_until

__all__ = ["HangingWriter", "unverified"]

_PRODUCE, _FIND_COORDINATOR, _INIT_PRODUCER_ID = (0, 3), (10, 1), (22, 1)
"""Keys of the requests, and their versions."""
_TRANSACTIONAL = 0x10
_WITHIN_S = 30.0
_BUSY = {14, 15, 16, 51}
"""The coordinator is loading, not there yet, another one, or ends what was before."""
_VERIFIED = 48
"""The coordinator was asked, and knows of no transaction."""
_VERIFIES = "transaction.partition.verification.enable"


@contextmanager
def unverified(bootstrap: str) -> Iterator[None]:
    """Let the broker take records of transactions that its coordinator does not know."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    _set(admin, ConfigEntry(_VERIFIES, "false", incremental_operation=AlterConfigOpType.SET))
    try:
        yield
    finally:
        _set(admin, ConfigEntry(_VERIFIES, None, incremental_operation=AlterConfigOpType.DELETE))


def _set(admin: AdminClient, entry: ConfigEntry) -> None:
    broker = ConfigResource(ConfigResource.Type.BROKER, "1", incremental_configs=[entry])
    for future in admin.incremental_alter_configs([broker]).values():
        future.result(_WITHIN_S)


class HangingWriter:
    """Implements `PartitionWriter`: what it writes hangs."""

    def __init__(
        self, client: Mapping[str, str], transactional_id: str, login: object = None
    ) -> None:
        """`client`: properties of librdkafka that say where; `login` is not needed."""
        del login
        host, _, port = client["bootstrap.servers"].partition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=_WITHIN_S)
        self._id = transactional_id
        self._numbers = itertools.count()
        self._identity = (0, 0)

    def fence(self) -> None:
        """Become who writes under the id."""
        # Whoever is the first on a broker lets it make the topic of transactions so.
        self._ask(_FIND_COORDINATOR, _text(self._id) + b"\1")
        wait_until(self._is_known, _WITHIN_S)

    def _is_known(self) -> bool:
        answer = self._ask(_INIT_PRODUCER_ID, _text(self._id) + struct.pack(">i", 60_000))
        _, error, producer, epoch = struct.unpack_from(">ihqh", answer)
        assert error == 0 or error in _BUSY, f"InitProducerId: error {error}"
        self._identity = (producer, epoch)
        return bool(error == 0)

    def write(self, entries: Sequence[LogEntry], topics: Mapping[LogTopic, str]) -> None:
        """Append all, and end nothing."""
        for place in sorted({(each.topic, each.partition) for each in entries}):
            mine = [each for each in entries if (each.topic, each.partition) == place]
            self._append(topics[place[0]], place[1], _batch(mine, *self._identity))

    def _append(self, topic: str, partition: int, batch: bytes) -> None:
        body = _text(self._id) + struct.pack(">hii", -1, 10_000, 1) + _text(topic)
        body += struct.pack(">iii", 1, partition, len(batch)) + batch
        answer_at = 4 + 2 + len(topic) + 4

        def is_there() -> bool:
            _, error = struct.unpack_from(">ih", self._ask(_PRODUCE, body), answer_at)
            assert error in {0, _VERIFIED}, f"Produce to {partition} of {topic}: error {error}"
            return bool(error == 0)  # the broker hears of its new setting a moment later

        wait_until(is_there, _WITHIN_S)

    def write_aborted(self, entries: Sequence[LogEntry], topics: Mapping[LogTopic, str]) -> None:
        """Do as `write`."""
        self.write(entries, topics)

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _ask(self, kind: tuple[int, int], body: bytes) -> bytes:
        head = struct.pack(">hhi", *kind, next(self._numbers)) + _text("hanging")
        self._socket.sendall(struct.pack(">i", len(head + body)) + head + body)
        (size,) = struct.unpack(">i", self._receive(4))
        return self._receive(size)[4:]

    def _receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._socket.recv(size - len(data))
            assert more, "the broker hung up"
            data += more
        return data


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


def _batch(entries: Sequence[LogEntry], producer: int, epoch: int) -> bytes:
    """Return the records as one batch of the format 2."""
    now_ms = int(time.time() * 1000)
    records = b"".join(_record(number, each) for number, each in enumerate(entries))
    counted = struct.pack(
        ">hiqqqhi", _TRANSACTIONAL, len(entries) - 1, now_ms, now_ms, producer, epoch, 0
    )
    counted += struct.pack(">i", len(entries)) + records
    rest = struct.pack(">ib", 0, 2) + struct.pack(">I", _crc32c(counted)) + counted
    return struct.pack(">qi", 0, len(rest)) + rest


def _record(number: int, entry: LogEntry) -> bytes:
    value = _varint(-1) if entry.value is None else _varint(len(entry.value)) + entry.value
    key = _varint(len(entry.key)) + entry.key
    body = b"\0" + _varint(0) + _varint(number) + key + value + _varint(0)
    return _varint(len(body)) + body


def _varint(value: int) -> bytes:
    left, data = (value << 1) ^ (value >> 63), bytearray()
    while left > 0x7F:
        data.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*data, left])


def _crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
