"""The way of events and audit entries into the archive, as the settings name it."""

from collections.abc import Sequence

from supervisor.ports.store_problems import StoreAway
from supervisor.settings.settings import Settings
from tasks.reporting.record import ReportRecord
from tasks.sending.kafka_transport import KafkaTransport
from tasks.sending.transport import Outgoing, Transport, TransportAway

__all__ = ["TransportSender", "sender_in"]


class TransportSender:
    """A `RecordSender` over a transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def send(self, records: Sequence[ReportRecord]) -> None:
        """Return once the transport has acknowledged all records; see the port."""
        batch = [Outgoing(each.subject, each.to_json().encode()) for each in records]
        try:
            self._transport.send(batch)
        except TransportAway as error:
            raise StoreAway(str(error)) from error

    def close(self) -> None:
        """Give up what is under way."""
        self._transport.close()


def sender_in(settings: Settings, name: str) -> TransportSender | None:
    """Return the way to the topic `completed-others`; None: reports are off, or go by HTTP alone.

    `name`: of this process, for the brokers.
    """
    if settings.reports not in {"auto", "kafka"} or settings.reports_kafka is None:
        return None
    topic = f"{settings.reports_prefix}completed-others"
    client = {"bootstrap.servers": settings.reports_kafka}
    return TransportSender(KafkaTransport(client, topic, f"{name}-archive"))
