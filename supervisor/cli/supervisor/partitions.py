"""`tidegate supervisor partitions`: offsets, lag and retention headroom of each partition."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated

import typer

from supervisor.cli.shell.client import path_of
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Limit, Output, Server, SupervisorId, connect
from supervisor.cli.shell.output import ago, print_notice, short_duration, show_json
from supervisor.cli.shell.pages import rows_up_to
from supervisor.cli.shell.resource import Resource
from supervisor.cli.supervisor.watch import API
from supervisor.core.history.partitions import OnlyPartitions
from supervisor.views.partitions import PartitionsPage, PartitionView


class PartitionOrder(StrEnum):
    """Orders of partitions: the worst first, or by name."""

    NAME = "name"
    LAG = "lag"
    AGE = "age"
    HEADROOM = "headroom"


_SORT = {
    PartitionOrder.NAME: "partition",
    PartitionOrder.LAG: "-lagRecords",
    PartitionOrder.AGE: "-lagMillis",
    PartitionOrder.HEADROOM: "headroomMillis",
}

_WORDS = {OnlyPartitions.BEHIND: "behind", OnlyPartitions.AT_RISK: "at risk"}


def partitions(
    supervisor_id: SupervisorId,
    *,
    order: Annotated[
        PartitionOrder,
        typer.Option("--sort", help="By lag, age or headroom: the partition most at risk first."),
    ] = PartitionOrder.NAME,
    only: Annotated[
        OnlyPartitions | None,
        typer.Option(
            "--only",
            help="Those with unread records, or those that retention puts at risk.",
            show_default="all of them",
        ),
    ] = None,
    limit: Limit = 200,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List partitions: what Kafka holds, what is published and read, and what is at risk.

    HEADROOM is the time until Kafka deletes records that are not published yet.

    \b
    Examples:
      tidegate supervisor partitions clicks --sort headroom
      tidegate supervisor partitions clicks --only at-risk
    """
    with connect(server) as client:
        path = path_of(API, supervisor_id, "partitions")
        answer = rows_up_to(client, path, "partitions", limit, {"sort": _SORT[order], "only": only})
    if output is Format.JSON:
        show_json(answer.json())
        return
    page = answer.read(PartitionsPage)
    _PARTITIONS.show_rows(page.partitions)
    for notice in _notices(page, only):
        print_notice(notice)


def _notices(page: PartitionsPage, only: OnlyPartitions | None) -> list[str]:
    """Return what the table cannot show: how old it is, what failed, and why cells are empty."""
    now = datetime.now(UTC)
    looked = "no look at Kafka yet" if page.read_at is None else f"read {ago(page.read_at, now)}"
    which = f"{len(page.partitions)} of {page.count} partitions"
    if only is not None:
        which = f"{len(page.partitions)} of {page.fitting} partitions that are {_WORDS[only]}"
        which += f", {page.count} in all"
    notices = [f"{which}, {looked}"]
    if page.trouble is not None:
        notices.append(f"the last look at Kafka failed: {page.trouble.text}")
    reasons = Counter(pair for row in page.partitions for pair in row.unknown.items())
    for (member, reason), count in sorted(reasons.items()):
        notices.append(f"{member} is not known of {count}: {reason}")
    return notices


def _row(row: PartitionView, _: datetime) -> tuple[object, ...]:
    positions = [task.position for task in row.tasks if task.position is not None]
    return (
        f"{row.topic}:{row.partition}",
        row.group,
        row.earliest,
        row.committed,
        max(positions, default=None),
        row.stable,
        row.latest,
        row.lag_records,
        _duration(row.lag_millis),
        _duration(row.headroom_millis),
        "at risk" if row.at_risk else "",
        "" if row.trouble is None else row.trouble.code,
        row.headroom_records,
        row.generation_id,
        ", ".join(task.id for task in row.tasks),
    )


def _duration(millis: int | None) -> str:
    return "" if millis is None else short_duration(timedelta(milliseconds=millis))


_PARTITIONS = Resource(
    path=API,
    rows=list[PartitionView],
    columns=(
        "PARTITION",
        "GROUP",
        "EARLIEST",
        "COMMITTED",
        "READING",
        "STABLE",
        "LATEST",
        "LAG",
        "OLDEST",
        "HEADROOM",
        "RISK",
        "TROUBLE",
    ),
    wide=("HEADROOM RECORDS", "RANGE", "TASKS"),
    cells=_row,
    problem=lambda row: (
        None if row.trouble is None else f"{row.topic}:{row.partition}: {row.trouble.text}"
    ),
)
