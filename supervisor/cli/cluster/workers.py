"""`tidegate worker` runs a worker; `worker list|show|disable|...` are for operators."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from supervisor.cli.cluster.serve import DataDir, Host, Slots, WorkerPort, worker
from supervisor.cli.shell.client import WORKER, path_of
from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.dry_runs import DryRun, Expect, VerbQuery, show_preview
from supervisor.cli.shell.form import Format, form
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import Output, Reason, Server, Yes, connect
from supervisor.cli.shell.output import (
    ago,
    print_notice,
    short_duration,
    show_done,
    show_facts,
    show_json,
    show_name,
    show_table,
    size,
)
from supervisor.cli.shell.resource import Resource, Verb, add_list, add_verb
from supervisor.views.workers import WorkerDetail, WorkerSummary, WorkerTask

commands = typer.Typer(invoke_without_command=True, cls=HelpSections)
WorkerId = Annotated[
    str,
    typer.Argument(metavar="ID", help="Id of the worker, or its host:port.", show_default=False),
]


@commands.callback()
def run(
    context: typer.Context,
    host: Host = None,
    port: WorkerPort = None,
    data_dir: DataDir = None,
    slots: Slots = None,
) -> None:
    """Run a worker: one Spark application that reads, writes and publishes for the overlord."""
    if context.invoked_subcommand is None:
        worker(host, port, data_dir, slots)


_KNOWN = "/api/v1/workers"


def _state(row: WorkerSummary) -> str:
    also = [word for word, so in (("disabled", row.disabled), ("stopping", row.stopping)) if so]
    return ", ".join([row.liveness, *also])


def _length(length: timedelta | None) -> str:
    return "" if length is None else short_duration(length)


_WORKERS = Resource(
    path=_KNOWN,
    rows=list[WorkerSummary],
    columns=("ID", "ADDRESS", "STANDS", "SLOTS", "IN USE", "TASKS"),
    wide=("VERSION", "SILENT", "INCARNATION", "BEFORE"),
    cells=lambda row, _: (
        row.id,
        row.host,
        _state(row),
        row.slots.total,
        row.slots.used,
        row.task_count,
        row.version or "",
        _length(row.silent_for),
        row.incarnation,
        row.previous_end,
    ),
    nothing="There is no worker yet: `tidegate worker` runs one.",
)
add_list(commands, _WORKERS, "List the workers, their slots, and what runs on them.")


@commands.command()
def show(name: WorkerId, server: Server = None, output: Output = Format.TABLE) -> None:
    """Show one worker: its release, its Spark, and what runs on it.

    Example: tidegate worker show worker-3
    """
    with connect(server) as client:
        answer = client.get(path_of(_KNOWN, name))
    if output is Format.JSON:
        show_json(answer.json())
        return
    worker, now = answer.read(WorkerDetail), datetime.now(UTC)
    if form() is Format.NAME:
        show_name(worker.id)
        return
    show_facts(_facts(worker, now))
    if worker.tasks:
        show_table(
            ("TASK", "SUPERVISOR", "PHASE", "STARTED"),
            (_task_cells(task, now) for task in worker.tasks),
        )
    for each in worker.compactions:
        print_notice(f"compaction {each.id} of {each.data_source}: {each.inputs} files")


def _task_cells(task: WorkerTask, now: datetime) -> tuple[object, ...]:
    phase = task.phase or "not reported"
    return task.id, task.supervisor_id, phase, ago(task.created_at, now)


def _facts(worker: WorkerDetail, now: datetime) -> tuple[tuple[str, object], ...]:
    memory = worker.memory
    resident = None if memory is None else memory.resident_bytes
    heap = None if memory is None else memory.heap_max_bytes
    return (
        ("worker", worker.id),
        ("address", worker.host),
        ("stands", _state(worker)),
        ("silent for", _length(worker.silent_for)),
        ("slots", f"{worker.slots.used} of {worker.slots.total} in use"),
        ("version", worker.version or ""),
        ("runs for", _length(worker.uptime)),
        ("incarnation", worker.incarnation),
        ("ended before", worker.previous_end),
        ("spark master", worker.spark_master or ""),
        ("memory of its JVM", "" if resident is None else size(resident)),
        ("heap at most", "" if heap is None else size(heap)),
        ("tasks", worker.task_count),
        ("compactions", len(worker.compactions)),
        ("samples", worker.samples),
        ("registered", ago(worker.registered_at, now)),
    )


add_verb(
    commands,
    Verb("disable", WORKER, "disable", WorkerId, "is disabled"),
    "Give a worker nothing new: it finishes what it has.  It stays so until it is enabled.",
)
add_verb(
    commands,
    Verb("enable", WORKER, "enable", WorkerId, "is enabled"),
    "Let a disabled worker take tasks again.",
)


@commands.command()
def forget(
    name: WorkerId,
    *,
    yes: Yes = False,
    dry_run: DryRun = False,
    expect: Expect = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Forget a worker that is gone for good: what its tasks left behind is deleted.

    It has to be LOST. Published files stay; what it had read and not published is read again.

    Example: tidegate worker forget worker-3
    """
    query, path = VerbQuery(dry_run, expect), path_of(WORKER, name, "forget")
    if query.asks and not yes:
        confirm(
            f"Forget {name}? Files that its tasks left unpublished are deleted. If the machine "
            "comes back, it registers as a new worker."
        )
    with connect(server, reason) as client:
        answer = query.send(client, lambda params: client.post(path, params=params))
    if dry_run:
        show_preview(answer, output)
    elif output is Format.JSON:
        show_json(answer.json())
    else:
        show_done(name, f"{name} is forgotten")
