"""Faults of the sender: what it forgets before the store has it, and what it holds."""

import time
from collections.abc import Sequence

from tasks.reporting.backlog import Backlog, rank_of
from tasks.reporting.record import RecordType, ReportRecord
from tasks.sending import spool
from tasks.sending.http_transport import HttpTransport, _TooLargeHere
from tasks.sending.kafka_transport import KafkaTransport
from tasks.sending.log_tail import LogPiece
from tasks.sending.sender import Sender, _of, _outgoing
from tasks.sending.transport import Outgoing
from tests.simulation.planted.patches import Mutant, Patches

_SENDER = "tests/tasks/sending/test_sender.py"
_BACKLOG = "tests/tasks/reporting/test_backlog.py"


def sent_before_the_acknowledgement(patches: Patches) -> None:
    def ship_once(sender: Sender) -> bool:
        batch = sender._spool.next(sender._options.batch_bytes)
        sender._spool.sent(batch)
        if batch.records:
            sender._transport.send([_outgoing(each)[0] for each in batch.records])
        pieces = [] if sender._logs is None else [*sender._logs.due(time.monotonic())]
        return sender._send_pieces(pieces) or bool(batch.records)

    patches.method(Sender, "_ship_once", lambda _: ship_once)


def log_sent_before_the_acknowledgement(patches: Patches) -> None:
    def send_pieces(sender: Sender, pieces: Sequence[LogPiece]) -> bool:
        if sender._logs is None or not pieces:
            return False
        for each in pieces:
            sender._logs.sent(each)
        sender._transport.send([_of(sender._log_record(each)) for each in pieces])
        return True

    patches.method(Sender, "_send_pieces", lambda _: send_pieces)


def log_piece_is_sent_once(patches: Patches) -> None:
    def send_pieces(sender: Sender, pieces: Sequence[LogPiece]) -> bool:
        if sender._logs is None or not pieces:
            return False
        sender._transport.send([_of(sender._log_record(each)) for each in pieces])
        for each in pieces:
            sender._logs.sent(each)
        return True

    patches.method(Sender, "_send_pieces", lambda _: send_pieces)


def backlog_without_bound(patches: Patches) -> None:
    def offer(backlog: Backlog, record: ReportRecord, size: int) -> bool:
        backlog._waiting[rank_of(record)].append((record, size))
        backlog.size_bytes += size
        return True

    patches.method(Backlog, "offer", lambda _: offer)


def dropped_uncounted(patches: Patches) -> None:
    def drop(backlog: Backlog, kind: RecordType) -> None:
        del backlog, kind

    patches.method(Backlog, "_drop", lambda _: drop)


def line_without_a_check(patches: Patches) -> None:
    def record_of(line: bytes) -> bytes | None:
        return line[spool._CRC + 1 :]

    patches.function(spool, "_record_of", lambda _: record_of)


def answer_taken_for_all(patches: Patches) -> None:
    def send_part(transport: HttpTransport, part: Sequence[bytes]) -> None:
        try:
            outcomes = transport._outcomes(part)
        except _TooLargeHere:
            transport.refused_total += len(part)
            return
        transport.refused_total += outcomes.count("rejected")

    patches.method(HttpTransport, "_send_part", lambda _: send_part)


def produced_is_sent(patches: Patches) -> None:
    def sent(transport: KafkaTransport, batch: Sequence[Outgoing]) -> list[Outgoing]:
        del transport, batch
        return []

    patches.method(KafkaTransport, "_sent", lambda _: sent)


MUTANTS = (
    Mutant(
        "sent-before-the-acknowledgement",
        "II.5",
        "a batch leaves the disk before its transport has it",
        sent_before_the_acknowledgement,
        direct=f"{_SENDER}::test_a_topic_that_is_away_costs_nothing_and_is_named",
    ),
    Mutant(
        "log-sent-before-the-acknowledgement",
        "II.5",
        "a piece of a log is noted as sent before its transport has it",
        log_sent_before_the_acknowledgement,
        direct=f"{_SENDER}::test_logs_that_did_not_arrive_are_sent_again",
    ),
    Mutant(
        "log-piece-is-sent-once",
        "II.5",
        "a piece of a log that did not arrive is taken for under way for ever",
        log_piece_is_sent_once,
        direct=f"{_SENDER}::test_logs_that_did_not_arrive_are_sent_again",
    ),
    Mutant(
        "backlog-without-bound",
        "II.4",
        "whatever is offered waits in memory",
        backlog_without_bound,
        direct=f"{_BACKLOG}::test_nothing_is_lost_uncounted_and_no_result_at_all",
    ),
    Mutant(
        "dropped-uncounted",
        "II.4",
        "what is dropped for lack of room is not counted",
        dropped_uncounted,
        direct=f"{_BACKLOG}::test_nothing_is_lost_uncounted_and_no_result_at_all",
    ),
    Mutant(
        "line-without-a-check",
        "II.5",
        "a line of the spool is sent whatever its checksum says",
        line_without_a_check,
        direct="tests/tasks/sending/test_spool.py"
        "::test_a_damaged_line_costs_itself_alone_and_is_counted",
    ),
    Mutant(
        "answer-taken-for-all",
        "II.5",
        "an answer of a persister counts for records that it says nothing of",
        answer_taken_for_all,
        direct="tests/tasks/sending/test_http_transport.py"
        "::test_an_answer_without_an_outcome_for_each_counts_for_nothing",
    ),
    Mutant(
        "produced-is-sent",
        "II.4, II.11.10",
        "a record counts as sent without the acknowledgement of a broker",
        produced_is_sent,
        direct="tests/tasks/sending/test_kafka_transport.py"
        "::test_a_broker_that_is_away_is_named_with_what_to_check",
    ),
)
