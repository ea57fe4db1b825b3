"""The way of the leader's records to the topic `completed-others`, or to a persister."""

from collections.abc import Sequence
from threading import Lock

from supervisor.ports.store_problems import StoreAway
from supervisor.settings.settings import Settings
from tasks.reporting.record import ReportRecord
from tasks.sending.http_transport import HttpTransport
from tasks.sending.kafka_transport import KafkaTransport
from tasks.sending.transport import Outgoing, Transport, TransportAway

__all__ = ["TransportSender", "sender_in"]


class TransportSender:
    """A `RecordSender` over a transport, which one thread at a time uses."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._turn = Lock()

    def send(self, records: Sequence[ReportRecord]) -> None:
        """Return once the transport has acknowledged all records; see the port."""
        batch = [Outgoing(each.subject, each.to_json().encode()) for each in records]
        if not batch:
            return
        try:
            with self._turn:
                self._transport.send(batch)
        except TransportAway as error:
            raise StoreAway(str(error)) from error

    def close(self) -> None:
        """Give up what is under way."""
        self._transport.close()


def sender_in(settings: Settings, name: str) -> TransportSender | None:
    """Return the way of what the leader reports and archives; None: reports are off, or have none.

    By Kafka it is the topic `completed-others`, by HTTP a persister of the settings.  `name`: of
    this process, for the brokers.

    Raises:
        SetupProblem: the key of persisters cannot be read.
    """
    if settings.reports in {"auto", "kafka"} and settings.reports_kafka is not None:
        topic = f"{settings.reports_prefix}completed-others"
        client = {"bootstrap.servers": settings.reports_kafka}
        return TransportSender(KafkaTransport(client, topic, f"{name}-archive"))
    doors = settings.reports_persister
    if settings.reports in {"auto", "direct"} and doors:
        key, tls = settings.reports_key(), settings.trust()
        return TransportSender(HttpTransport(lambda: doors, key, tls))
    return None
