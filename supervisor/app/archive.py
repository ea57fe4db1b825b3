"""The way of the leader's records to the topic `completed-others`, or to a persister."""

from collections.abc import Sequence
from threading import Lock

import structlog

from supervisor.app.brokers import report_brokers
from supervisor.ports.reports.archive import RecordSender
from supervisor.ports.reports.reports import ReportStore
from supervisor.ports.store_problems import ContentRefused, StoreAway, StoreRefuses
from supervisor.settings.settings import Settings
from tasks.reporting.record import RecordType, ReportRecord
from tasks.sending.http_transport import HttpTransport
from tasks.sending.kafka_transport import KafkaTransport
from tasks.sending.transport import Outgoing, Transport, TransportAway

__all__ = ["PrimaryToo", "TransportSender", "sender_in", "transport_in"]

log = structlog.get_logger()

_NOT_REPORTS = {RecordType.LOG_CHUNK, RecordType.EVENT, RecordType.AUDIT, RecordType.COMPLETION}
"""History goes by the archive's own positions, and logs have a store of their own."""


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


class PrimaryToo:
    """A `RecordSender` that writes reports into their store, too, once they are sent.

    Then they are there at once, and a persister meets conflicts later.  A store that does not take
    them costs that alone: what was sent is stored all the same.
    """

    def __init__(self, sender: RecordSender, reports: ReportStore) -> None:
        self._sender, self._reports = sender, reports
        self._trouble = ""

    def send(self, records: Sequence[ReportRecord]) -> None:
        """Return once the records are acknowledged; see the port."""
        self._sender.send(records)
        own = [each for each in records if each.type not in _NOT_REPORTS]
        if not own:
            return
        try:
            self._reports.put_many(own)
        except (StoreAway, StoreRefuses, ContentRefused) as error:
            if str(error) != self._trouble:
                log.warning("reports are not written into their store directly", why=str(error))
            self._trouble = str(error)
        else:
            self._trouble = ""

    def close(self) -> None:
        """Give up what is under way."""
        self._sender.close()


def sender_in(
    settings: Settings, name: str, reports: ReportStore | None = None
) -> RecordSender | None:
    """Return the way of the leader's records, which writes into `reports`, too, if that is set.

    Raises:
        SetupProblem: as `transport_in`.
    """
    sender = transport_in(settings, name)
    if sender is None or reports is None or not settings.reports_store_in_primary:
        return sender
    return PrimaryToo(sender, reports)


def transport_in(settings: Settings, name: str) -> TransportSender | None:
    """Return the way of what the leader reports and archives; None: reports are off, or have none.

    By Kafka it is the topic `completed-others`, by HTTP a persister of the settings.  `name`: of
    this process, for the brokers.

    Raises:
        SetupProblem: the key of persisters or the file of client properties cannot be read.
    """
    client = report_brokers(settings) if settings.reports in {"auto", "kafka"} else None
    if client is not None:
        topic = f"{settings.reports_prefix}completed-others"
        return TransportSender(KafkaTransport(client, topic, f"{name}-archive"))
    doors = settings.reports_persister
    if settings.reports in {"auto", "direct"} and doors:
        key, tls = settings.reports_key(), settings.trust()
        return TransportSender(HttpTransport(lambda: doors, key, tls))
    return None
