"""`tidegate supervisor reset --to-latest --backfill`: a second supervisor reads skipped ranges."""

from collections.abc import Iterator, Mapping

import typer

from supervisor.cli.shell.client import SUPERVISORS, ApiReply, Client, path_of
from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.output import print_notice, show_done, show_json, show_text
from supervisor.cli.shell.previewed import ResetQuery
from supervisor.core.values.counts import counted, grouped
from supervisor.views.supervisors.resets import Backfilled


def _readers(done: Backfilled) -> Iterator[str]:
    """Yield one line for each range: the supervisor that reads it from now on."""
    reader = done.backfill_supervisor_id or "a supervisor of its own"
    for each in done.backfill:
        yield (
            f"{each.topic}:{each.partition}: {reader} reads {each.start} to {each.to}, "
            f"{grouped(each.to - each.start)} offsets; {done.id} goes on at {each.to}"
        )
    for left in done.partitions:
        if left.lost:
            where = f"{left.topic}:{left.partition}"
            lost = counted(left.lost, "record is", "records are")
            yield f"{where}: {lost} lost: Kafka holds them no more"


def wanted_backfill(
    *, to_latest: bool, backfill: bool, task_count: int | None, offsets: bool
) -> Mapping[str, str] | None:
    """Return the query parameters for a backfill; None: the options request none.

    Raises:
        BadParameter: the options contradict each other.
    """
    if not (to_latest or backfill or task_count is not None):
        return None
    if not (to_latest and backfill):
        message = "--to-latest and --backfill go together: what lies before is read by another one"
        raise typer.BadParameter(f"{message}; to skip it instead, name the offsets with --offset")
    if offsets:
        raise typer.BadParameter("--to-latest names the offsets already: leave --offset out")
    return {} if task_count is None else {"backfillTaskCount": str(task_count)}


def run_backfill(
    client: Client, supervisor_id: str, query: Mapping[str, str], wanted: ResetQuery
) -> ApiReply:
    """Show a preview, ask unless `yes`, and start the backfill; return the last answer."""

    def show(answer: ApiReply) -> str:
        seen = answer.read(Backfilled)
        for line in _readers(seen):
            print_notice(line)
        print_notice(
            f"{counted(len(seen.discarded), 'range')} that tasks read now will be given up, and "
            f"read once more by the other, in {counted(seen.backfill_task_count, 'group')}."
        )
        confirm(f"Let {supervisor_id} go on at the latest offsets?")
        return seen.digest

    path = path_of(SUPERVISORS, supervisor_id, "resetToLatestAndBackfill")
    return wanted.post(client, path, b"", show, query)


def show_backfill(answer: ApiReply, output: Format) -> None:
    """Print the ranges, each with the supervisor that reads it from now on."""
    if output is Format.JSON:
        show_json(answer.json())
        return
    done = answer.read(Backfilled)
    for line in _readers(done):
        show_text(line)
    own = done.backfill_supervisor_id
    last = "nothing is changed: a dry run" if own is None else f"{done.id} is reset, {own} created"
    show_done(own or done.id, last)
