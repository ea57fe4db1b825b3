"""`tidegate supervisor reset`: move committed offsets, after a preview of the effects."""

import json
from collections.abc import Mapping
from typing import Annotated

import typer

from supervisor.cli.shell.client import SUPERVISORS, ApiReply, Client, path_of
from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Reason, Server, SupervisorId, Wait, Yes, connect
from supervisor.cli.shell.output import print_notice, show_done, show_json, show_text
from supervisor.cli.shell.previewed import ResetQuery
from supervisor.cli.shell.problems import CommandFailed
from supervisor.cli.shell.wait import wait_until_reading
from supervisor.cli.supervisor.backfill import run_backfill, show_backfill, wanted_backfill
from supervisor.cli.supervisor.watch import API
from supervisor.core.planning.offset_moves import LogEnd
from supervisor.core.values.counts import counted
from supervisor.views.status import SupervisorStatus
from supervisor.views.supervisors.resets import Moved, MovedPartition, OffsetsAt


def _effects(moved: MovedPartition) -> str:
    """Return a line about a partition: its new offset, and what is skipped, lost or repeated."""
    came = "no offset" if moved.start is None else str(moved.start)
    went = "nowhere: it exists no more" if moved.to is None else str(moved.to)
    numbers = (
        (moved.skipped, "records are skipped"),
        (moved.lost, "records are lost: Kafka holds them no more"),
        (moved.repeated, "records are read, and in the table, a second time"),
    )
    effects = "; ".join(f"{count} {what}" for count, what in numbers if count)
    if moved.recreated:
        effects = (
            f"the old topic is gone: what it held from offset {came} on, and was not published, is "
            "lost with it"
        )
    effects = effects or "nothing is skipped or read twice"
    return f"{moved.topic}:{moved.partition}: from {came} to {went}: {effects}"


def _offset(text: str) -> tuple[str, int]:
    partition, _, offset = text.rpartition("=")
    if not (partition and offset.isascii() and offset.isdigit()):
        raise typer.BadParameter(f"{text!r} is not of the form PARTITION=OFFSET, such as 0=100")
    return partition, int(offset)


Named = Annotated[
    list[str] | None,
    typer.Option(
        "--offset",
        metavar="PARTITION=OFFSET",
        show_default="all partitions begin as useEarliestOffset of the spec says",
        help="Go on here; with a topicPattern TOPIC:PARTITION=OFFSET. May be repeated.",
    ),
]
ToLatest = Annotated[
    bool, typer.Option("--to-latest", help="Go on at the latest offsets; with --backfill.")
]
Beside = Annotated[
    bool, typer.Option("--backfill", help="Have a bounded supervisor read what lies before, once.")
]
BesideGroups = Annotated[
    int | None,
    typer.Option(
        "--backfill-task-count",
        metavar="N",
        min=1,
        show_default="as many as the spec has",
        help="With --backfill: in so many task groups.",
    ),
]
AtTime = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="TIME|earliest|latest|committed",
        show_default="goes by no time",
        help="Go on at the first record of this time or later, or at an end of the log.",
    ),
]
ShiftBy = Annotated[
    int | None,
    typer.Option(
        "--shift",
        metavar="RECORDS",
        show_default="goes by no number",
        help="Go on so many records after --at, else after the committed offset; or before: -100.",
    ),
]


Begin = Annotated[
    LogEnd | None,
    typer.Option(
        "--begin",
        help="Begin again in all partitions there.",
        show_default="as useEarliestOffset of the spec says",
    ),
]
Expecting = Annotated[
    str | None,
    typer.Option(
        "--expect",
        metavar="DIGEST",
        show_default="asks with a preview",
        help="Do what the dry run with this digest has shown, or nothing; asks no more.",
    ),
]


def reset(
    supervisor_id: SupervisorId,
    *,
    offset: Named = None,
    begin: Begin = None,
    at: AtTime = None,
    shift: ShiftBy = None,
    to_latest: ToLatest = False,
    backfill: Beside = False,
    backfill_task_count: BesideGroups = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would do, and change nothing.")
    ] = False,
    expect: Expecting = None,
    yes: Yes = False,
    wait: Wait = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Begin again at the earliest or latest offsets, or go on at the ones given.

    Prints what is skipped, lost or read twice before it asks, and then does just that, or prints
    anew what has changed.  What was read and is not published yet is given up.

    With --to-latest --backfill nothing is skipped: a second supervisor reads what lies before the
    latest offsets into the same table, and each record is read by one of the two.

    \b
    Examples:
      tidegate supervisor reset clicks --offset 0=100 --dry-run
      tidegate supervisor reset clicks --at 2026-01-05T12:00:00Z --dry-run
      tidegate supervisor reset clicks --at latest --shift=-1000 --dry-run
    """
    named = dict(_offset(text) for text in offset or ())
    wish = _wish(at, shift, named)
    if begin is not None and (named or wish or to_latest):
        raise typer.BadParameter("--begin is for all partitions: it goes with no other place")
    wanted = ResetQuery(begin, expect, dry_run=dry_run, yes=yes)
    query = wanted_backfill(
        to_latest=to_latest,
        backfill=backfill,
        task_count=backfill_task_count,
        offsets=bool(named or wish),
    )
    with connect(server, reason) as client:
        if query is not None:
            answer = run_backfill(client, supervisor_id, query, wanted)
            if wait is not None and not dry_run:
                wait_until_reading(client, supervisor_id, wait)
            show_backfill(answer, output)
            return
        named = _wished(client, supervisor_id, wish) if wish else named
        moved = _reset(client, supervisor_id, named, wanted)
        if wait is not None and not dry_run:
            wait_until_reading(client, supervisor_id, wait)
    done = "nothing is changed: a dry run" if dry_run else f"{supervisor_id} is reset"
    _show(moved.read(Moved), done, output, moved.json())


def _reset(
    client: Client, supervisor_id: str, named: Mapping[str, int], wanted: ResetQuery
) -> ApiReply:
    """Show a preview, ask unless `yes`, and reset; return the last answer."""
    path = path_of(SUPERVISORS, supervisor_id, "resetOffsets" if named else "reset")
    body = _body(client, supervisor_id, named)

    def show(answer: ApiReply) -> str:
        preview = answer.read(Moved)
        for partition in preview.partitions:
            print_notice(_effects(partition))
        ranges = counted(len(preview.discarded), "range")
        print_notice(f"{ranges} that tasks read now will be given up.")
        confirm(f"Reset {supervisor_id}?")
        return preview.digest

    return wanted.post(client, path, body, show)


def _wish(at: str | None, shift: int | None, named: Mapping[str, int]) -> dict[str, str]:
    """Return the query for offsets of a time or a shift; empty: neither is wanted."""
    wish = {} if at is None else {"at": at}
    if shift is not None:
        wish["shift"] = str(shift)
    if wish and named:
        raise typer.BadParameter("--offset already says where: leave --at and --shift out")
    return wish


def _wished(client: Client, supervisor_id: str, wish: Mapping[str, str]) -> dict[str, int]:
    """Return partition -> offset as the overlord finds it, and say what is not exact."""
    found = client.get(path_of(API, supervisor_id, "offsets"), wish).read(OffsetsAt)
    named = {}
    for row in found.partitions:
        if row.why:
            print_notice(f"{row.topic}:{row.partition}: {row.why}")
        if row.offset is not None:
            named[row.name] = row.offset
    if not named:
        raise CommandFailed(f"no offset of {supervisor_id} is known for that: nothing is reset")
    return named


def _body(client: Client, supervisor_id: str, named: Mapping[str, int]) -> bytes:
    if not named:
        return b""
    stream = (
        client.get(path_of(SUPERVISORS, supervisor_id, "status"))
        .read(SupervisorStatus)
        .payload.stream
    )
    if not stream:
        raise CommandFailed(f"the overlord does not say what {supervisor_id} reads")
    partitions = {"type": "end", "stream": stream, "partitionOffsetMap": named}
    return json.dumps({"type": "kafka", "partitions": partitions}).encode()


def _show(moved: Moved, last: str, output: Format, answer: object) -> None:
    if output is Format.JSON:
        show_json(answer)
        return
    for partition in moved.partitions:
        show_text(_effects(partition))
    if moved.dry_run and moved.digest:
        print_notice(f"--expect {moved.digest} does this, or nothing")
    show_done(moved.id, last)
