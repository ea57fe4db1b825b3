"""`tidegate quarantine ...`: list, show and replay bad records."""

import json
from pathlib import Path
from typing import Annotated

import typer

from supervisor.cli.shell.client import OPERATIONS, Client, Params, path_of
from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.dry_runs import DryRun, Expect, VerbQuery, show_preview
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import (
    Output,
    Reason,
    Server,
    SupervisorId,
    Wait,
    WarehouseHere,
    Yes,
    connect,
)
from supervisor.cli.shell.output import (
    print_notice,
    show_done,
    show_facts,
    show_json,
    show_name,
    show_table,
    show_text,
    size,
)
from supervisor.cli.shell.problems import CommandFailed
from supervisor.cli.shell.wait import wait_until_done
from supervisor.core.history.replays import ReplayRequest
from supervisor.core.tables.bad_records import BucketWidth
from supervisor.core.values.counts import grouped
from supervisor.core.values.errors import SourceUnreadable
from supervisor.verify.ledger import CheckedLedger
from supervisor.views.operations import OperationView
from supervisor.views.tables.quarantine import BadRecordsSummary, Quarantined, QuarantinedRecord

commands = typer.Typer(
    no_args_is_help=True, cls=HelpSections, help="Records that could not be read, as they were."
)
PAGE = 500
VALUE_SHOWN = 80
"""Characters of a value in a list; `show` prints the whole value."""

OfReason = Annotated[
    str | None,
    typer.Option(
        "--reason",
        metavar="REASON",
        help="Only with this reason, such as not-json.",
        show_default="all",
    ),
]
ToTopic = Annotated[
    str,
    typer.Option(
        "--topic", metavar="TOPIC", help="Where to send them: a topic that keeps its records."
    ),
]
OfThem = Annotated[
    str | None,
    typer.Option(
        "--of",
        metavar="REASON",
        help="Only bad records with this reason, such as not-json.",
        show_default="all",
    ),
]
OfPartition = Annotated[
    int | None,
    typer.Option(
        "--partition", metavar="N", min=0, help="Only of this partition.", show_default="all"
    ),
]
KeepTime = Annotated[
    bool,
    typer.Option(
        "--keep-time", help="Send them with the time that they had in Kafka, not the present."
    ),
]
MostSent = Annotated[
    int,
    typer.Option(
        "--limit",
        "-n",
        metavar="N",
        min=1,
        max=100_000,
        help="Send at most so many in this call.",
    ),
]


@commands.callback()
def _group() -> None:
    """Records that could not be read, as they were."""


@commands.command("list")
def list_all(
    supervisor_id: SupervisorId,
    topic: Annotated[
        str | None,
        typer.Option("--topic", metavar="TOPIC", help="Only of this topic.", show_default="all"),
    ] = None,
    partition: OfPartition = None,
    reason: OfReason = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="At most so many.")
    ] = 100,
    *,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List records that a supervisor could not read, by topic, partition and offset.

    Example: tidegate quarantine list clicks --reason not-json
    """
    narrowed = {"topic": topic, "partition": partition, "reason": reason}
    params: dict[str, str | int | bool] = {k: v for k, v in narrowed.items() if v is not None}
    with connect(server) as client:
        records, reasons, more = _pages(client, supervisor_id, params, limit)
    if output is Format.JSON:
        show_json({"reasons": reasons, "records": [r.model_dump(mode="json") for r in records]})
        return
    show_table(
        ("RECORD", "OFFSET", "TIME", "REASON", "KEY", "SIZE", "VALUE"),
        (_row(record) for record in records),
    )
    breakdown = ", ".join(f"{number} {reason}" for reason, number in sorted(reasons.items()))
    print_notice(
        f"{grouped(sum(reasons.values()))} records: {breakdown}" if reasons else "no records"
    )
    if more:
        print_notice(f"The first {len(records)}; --limit shows more.")


@commands.command()
def show(
    supervisor_id: SupervisorId,
    record: Annotated[
        str,
        typer.Argument(
            metavar="TOPIC:PARTITION", help="Where it lies, as the list says.", show_default=False
        ),
    ],
    offset: Annotated[
        int,
        typer.Argument(
            metavar="OFFSET", min=0, help="Its offset there, as the list says.", show_default=False
        ),
    ],
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Show one record whole: key, headers and value.

    Example: tidegate quarantine show clicks clicks:1 17
    """
    topic, _, partition = record.rpartition(":")
    if not topic or not partition.isdecimal():
        raise typer.BadParameter("it is not TOPIC:PARTITION", param_hint="TOPIC:PARTITION")
    path = path_of(
        "/api/v1/supervisors", supervisor_id, "quarantine", topic, partition, str(offset)
    )
    with connect(server) as client:
        answer = client.get(path)
    if output is Format.JSON:
        show_json(answer.json())
        return
    quarantined = answer.read(QuarantinedRecord)
    show_name(f"{quarantined.topic}:{quarantined.partition}", quarantined.offset)
    show_facts(
        (
            ("record", f"{quarantined.topic}:{quarantined.partition} {quarantined.offset}"),
            ("time", quarantined.time.isoformat(sep=" ", timespec="milliseconds")),
            ("reason", quarantined.reason),
            ("key", _text_or_base64(quarantined.key, quarantined.key_base64)),
            *(
                ("header", f"{h.key}: {_text_or_base64(h.value, h.value_base64)}")
                for h in quarantined.headers
            ),
            ("size", size(quarantined.value_bytes)),
        )
    )
    show_text("")
    show_text(_text_or_base64(quarantined.value, quarantined.value_base64))
    if quarantined.cut:
        print_notice("The record is longer than what is shown.")


@commands.command("replay")
def replay_all(
    supervisor_id: SupervisorId,
    topic: ToTopic,
    reason: OfReason = None,
    *,
    most: MostSent = 10_000,
    keep_time: KeepTime = False,
    warehouse: WarehouseHere = None,
    yes: Yes = False,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Send quarantined records to another topic, as they were, each at most once.

    All of a call in one transaction of Kafka. A supervisor with a corrected spec, another id and
    the same dataSource then reads them. A header, tidegate-origin, names where each was; one that
    the topic has already is not sent again.

    \b
    Example:
      tidegate quarantine replay clicks --topic clicks-again --reason no-timestamp
    """
    from supervisor.app.replay_here import replay_here  # Kafka and Arrow: loaded only when asked

    with connect(server) as client:
        path = path_of("/api/v1/supervisors", supervisor_id, "ledger")
        ledger = client.get(path).read(CheckedLedger, whole=True)
    root = (warehouse or Path(ledger.warehouse)).resolve()
    if topic in {row.topic for row in ledger.committed}:
        raise CommandFailed(
            f"{supervisor_id} reads {topic} itself", "send them to a topic of their own"
        )
    files = [root / file.path for each in ledger.publications for file in each.errors]
    if not yes:
        confirm(f"Send records of {supervisor_id} to {topic}?")
    request = ReplayRequest(topic, "", reason, most=most, keep_time=keep_time)
    try:
        sent = replay_here(ledger.kafka, files, request)
    except SourceUnreadable as error:
        raise CommandFailed(str(error)) from error
    if output is Format.JSON:
        ends = {str(partition): end for partition, end in sorted(sent.ends.items())}
        summary = {"sent": sent.sent, "there": sent.there, "more": sent.more}
        show_json(summary | {"endSequenceNumbers": ends})
        return
    show_name(supervisor_id)
    show_text(f"{grouped(sent.sent)} records sent to {topic}, {sent.there} were there before")
    if sent.more:
        print_notice("There are more: run it again.")


@commands.command()
def send(
    supervisor_id: SupervisorId,
    topic: ToTopic,
    of: OfThem = None,
    partition: OfPartition = None,
    *,
    most: MostSent = 10_000,
    keep_time: KeepTime = False,
    wait: Wait = None,
    dry_run: DryRun = False,
    expect: Expect = None,
    reason: Reason = None,
    yes: Yes = False,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Have the overlord send quarantined records to another topic, each at most once.

    As replay, but without the warehouse and Kafka's password here: the leader does it in the
    background. Each record has its origin in a header; what the topic has is not sent again.

    \b
    Example:
      tidegate quarantine send clicks --topic clicks-again --of no-timestamp --wait 60
    """
    query = VerbQuery(dry_run, expect)
    if query.asks and not yes:
        confirm(f"Send records of {supervisor_id} to {topic}?")
    wanted = {"reason": of, "partition": partition}
    body = {k: v for k, v in wanted.items() if v is not None}
    document = json.dumps(body | {"topic": topic, "most": most, "keepTime": keep_time}).encode()
    path = path_of("/api/v1/supervisors", supervisor_id, "quarantine", "replay")
    with connect(server, reason) as client:
        answer = query.send(client, lambda params: client.post(path, document, params))
        if dry_run:
            show_preview(answer, output)
            return
        operation = answer.read(OperationView).id
        if wait is not None:
            wait_until_done(client, operation, wait)
            answer = client.get(path_of(OPERATIONS, operation))
    if output is Format.JSON:
        show_json(answer.json())
        return
    show_done(supervisor_id, replay_text(answer.read(OperationView)))


def replay_text(operation: OperationView) -> str:
    """Return what a replay has done, or will do."""
    replay = operation.replay
    if replay is None or replay.sent is None:
        return f"{operation.supervisor}: the overlord sends its records, as {operation.id}"
    more = "; there are more: run it again" if replay.more else ""
    sent = f"{grouped(replay.sent)} records sent to {replay.topic}"
    return f"{sent}, {replay.there} were there before{more}"


@commands.command()
def summary(
    supervisor_id: SupervisorId,
    bucket: Annotated[
        BucketWidth, typer.Option("--bucket", help="The width of a bucket of time, in UTC.")
    ] = BucketWidth.HOUR,
    reason: OfReason = None,
    partition: OfPartition = None,
    *,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Count bad records by time in Kafka, reason and partition.

    Example: tidegate quarantine summary clicks --bucket day
    """
    narrowed = {"bucket": bucket.value, "reason": reason, "partition": partition}
    params: Params = {k: v for k, v in narrowed.items() if v is not None}
    with connect(server) as client:
        path = path_of("/api/v1/supervisors", supervisor_id, "quarantine", "summary")
        answer = client.get(path, params)
    if output is Format.JSON:
        show_json(answer.json())
        return
    counted = answer.read(BadRecordsSummary)
    show_table(
        ("FROM", "REASON", "RECORD", "RECORDS"),
        (
            (each.start.strftime("%Y-%m-%d %H:%M"), c.reason, f"{c.topic}:{c.partition}", c.records)
            for each in counted.buckets
            for c in each.counts
        ),
    )
    if counted.undated:
        print_notice(f"{counted.undated} records have no time that is known.")
    if counted.truncated:
        print_notice(f"Of {counted.records} records, the newest: -o json has the sums.")


def _pages(
    client: Client, supervisor_id: str, params: dict[str, str | int | bool], limit: int
) -> tuple[list[QuarantinedRecord], dict[str, int], bool]:
    """Return up to `limit` records, reason -> number of all records, and whether there are more."""
    path = path_of("/api/v1/supervisors", supervisor_id, "quarantine")
    records: list[QuarantinedRecord] = []
    reasons: dict[str, int] = {}
    after: str | None = None
    while True:
        query = params | {"limit": min(PAGE, limit - len(records))}
        page = client.get(path, query if after is None else query | {"after": after})
        quarantined = page.read(Quarantined)
        records += quarantined.records
        reasons = reasons if quarantined.reasons is None else quarantined.reasons
        after = quarantined.next
        if after is None or len(records) >= limit:
            return records, reasons, after is not None


def _row(record: QuarantinedRecord) -> tuple[object, ...]:
    value = _text_or_base64(record.value, record.value_base64)
    return (
        f"{record.topic}:{record.partition}",
        record.offset,
        record.time.strftime("%Y-%m-%d %H:%M:%S"),
        record.reason,
        _shortened(_text_or_base64(record.key, record.key_base64)),
        size(record.value_bytes),
        _shortened(value),
    )


def _text_or_base64(text: str | None, base64: str | None) -> str:
    """Return the text if there is one, otherwise the base64 form of bytes; empty for neither."""
    if text is not None:
        return text
    return "" if base64 is None else f"base64:{base64}"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= VALUE_SHOWN else f"{line[: VALUE_SHOWN - 1]}…"
