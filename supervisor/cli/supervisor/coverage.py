"""`tidegate supervisor coverage`: what became of each offset, as a sum per partition."""

from typing import Annotated

import typer

from supervisor.cli.shell.client import OURS, path_of
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Server, SupervisorId, connect
from supervisor.cli.shell.output import print_notice, show_json, show_table
from supervisor.core.history.coverage.strands import CoverageKind
from supervisor.core.values.counts import grouped
from supervisor.views.tables.coverage import CoverageRun, CoverageView, CoveredPartition

_COLUMNS = (
    "TOPIC",
    "PARTITION",
    "FIRST",
    "NEXT",
    "PUBLISHED",
    "LOST",
    "SKIPPED",
    "REPEATED",
    "UNEXPLAINED",
)
_WIDE = ("PUBLISHING", "READING")
_RUN_COLUMNS = (
    "TOPIC",
    "PARTITION",
    "FROM",
    "TO",
    "KIND",
    "ROWS",
    "REJECTED",
    "RANGES",
)
RUNS_SHOWN = 5
_OFFSET_MAX = 2**63 - 1
_ELSE = "without --from and --to, the sum of each partition"
First = Annotated[
    int | None,
    typer.Option(
        "--from",
        min=0,
        max=_OFFSET_MAX,
        help="List the runs from this offset on.",
        show_default=_ELSE,
    ),
]
End = Annotated[
    int | None,
    typer.Option(
        "--to",
        min=0,
        max=_OFFSET_MAX,
        help="List the runs before this offset.",
        show_default=_ELSE,
    ),
]


def coverage(
    supervisor_id: SupervisorId,
    *,
    topic: Annotated[
        str | None,
        typer.Option("--topic", help="Of this topic alone.", show_default="of all topics"),
    ] = None,
    partition: Annotated[
        int | None,
        typer.Option(
            "--partition",
            min=0,
            help="Of the partition with this number.",
            show_default="of all partitions",
        ),
    ] = None,
    first: First = None,
    end: End = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Tell what became of each offset: published, lost, skipped, read again, or unexplained.

    Adds up what is on record. `tidegate verify` reads the records and the rows as well. With --from
    or --to it lists the runs of offsets there, with the rows of the ranges that are theirs alone.

    Example: tidegate supervisor coverage clicks --partition 3
    """
    wanted = {"topic": topic, "partition": partition, "from": first, "to": end}
    params = {name: str(value) for name, value in wanted.items() if value is not None}
    with connect(server) as client:
        answer = client.get(path_of(OURS, supervisor_id, "coverage"), params)
    if output is Format.JSON:
        show_json(answer.json())
        return
    view = answer.read(CoverageView)
    if first is None and end is None:
        show_table(_COLUMNS, map(_cells, view.partitions), wide=_WIDE)
    else:
        _show_runs(view)
    for each in view.partitions:
        _print_unexplained(each)
    print_notice(_sentence(view))


def _cells(each: CoveredPartition) -> tuple[object, ...]:
    counts = each.counts
    return (
        each.topic,
        each.partition,
        each.first_offset,
        each.next_offset,
        counts.published,
        counts.lost,
        counts.skipped,
        counts.repeated,
        counts.unexplained,
        counts.publishing,
        counts.reading,
    )


def _show_runs(view: CoverageView) -> None:
    show_table(
        _RUN_COLUMNS,
        [
            (
                each.topic,
                each.partition,
                run.first,
                run.to,
                run.kind.value,
                *("-" if count is None else count for count in _counts_of(run)),
            )
            for each in view.partitions
            for run in each.runs
        ],
    )
    for each in view.partitions:
        if each.more:
            print_notice(f"{each.topic}:{each.partition}: older runs are left out")


def _counts_of(run: CoverageRun) -> tuple[int | None, ...]:
    return run.rows, run.rejected, run.generations


def _print_unexplained(each: CoveredPartition) -> None:
    runs = [run for run in each.runs if run.kind is CoverageKind.UNEXPLAINED]
    for run in runs[:RUNS_SHOWN]:
        print_notice(f"{each.topic}:{each.partition}: unexplained from {run.first} to {run.to}")
    if len(runs) > RUNS_SHOWN:
        print_notice(f"{each.topic}:{each.partition}: and {len(runs) - RUNS_SHOWN} more runs")


def _sentence(view: CoverageView) -> str:
    counts = view.counts
    verdict = (
        "every committed offset is explained"
        if view.complete
        else f"{grouped(counts.unexplained)} offsets are unexplained: "
        f"`tidegate verify {view.supervisor_id}`"
    )
    return (
        f"{grouped(counts.committed)} offsets committed = {grouped(counts.published)} published + "
        f"{counts.repeated} repeated + {counts.skipped} skipped + {counts.lost} lost + "
        f"{counts.unexplained} unexplained: {verdict}"
    )
