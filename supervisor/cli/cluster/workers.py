"""`tidegate worker` runs a worker; `worker list|disable|enable|forget` are for operators."""

from typing import Annotated

import typer

from supervisor.cli.cluster.serve import DataDir, Host, Slots, WorkerPort, worker
from supervisor.cli.shell.client import WORKER, WORKERS, path_of
from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import Output, Reason, Server, Yes, connect
from supervisor.cli.shell.output import show_done, show_json
from supervisor.cli.shell.resource import Resource, Verb, add_list, add_verb
from supervisor.views.workers import WorkerLine

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


def _state(row: WorkerLine) -> str:
    also = [word for word, so in (("disabled", row.disabled), ("stopping", row.stopping)) if so]
    return ", ".join([row.liveness, *also])


_WORKERS = Resource(
    path=WORKERS,
    rows=list[WorkerLine],
    columns=("ID", "ADDRESS", "STANDS", "SLOTS", "IN USE", "TASKS"),
    cells=lambda row, _: (
        row.worker.id,
        row.worker.host,
        _state(row),
        row.worker.capacity,
        row.curr_capacity_used,
        len(row.running_tasks),
    ),
    nothing="There is no worker yet: `tidegate worker` runs one.",
)
add_list(commands, _WORKERS, "List the workers, their slots, and what runs on them.")
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
    yes: Yes = False,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Forget a worker that is gone for good: what its tasks left behind is deleted.

    It has to be LOST. Published files stay; what it had read and not published is read again.

    Example: tidegate worker forget worker-3
    """
    if not yes:
        confirm(
            f"Forget {name}? Files that its tasks left unpublished are deleted. If the machine "
            "comes back, it registers as a new worker."
        )
    with connect(server, reason) as client:
        answer = client.post(path_of(WORKER, name, "forget"))
    if output is Format.JSON:
        show_json(answer.json())
    else:
        show_done(name, f"{name} is forgotten")
