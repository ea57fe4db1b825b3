"""`tidegate worker` runs one; `worker list|disable|enable` say where tasks run, and may run."""

from typing import Annotated

import typer

from supervisor.cli.cluster.serve import DataDir, Host, Slots, WorkerPort, worker
from supervisor.cli.shell.answers import WorkerLine
from supervisor.cli.shell.client import WORKER, WORKERS, path_of
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.groups import Sections
from supervisor.cli.shell.options import Output, Server, connect
from supervisor.cli.shell.output import print_notice, show_done, show_json, show_table

commands = typer.Typer(invoke_without_command=True, cls=Sections)
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


@commands.command("list")
def list_all(server: Server = None, output: Output = Format.TABLE) -> None:
    """List the workers, their slots, and what runs on them."""
    with connect(server) as client:
        answer = client.get(WORKERS)
    if output is Format.JSON:
        show_json(answer.json())
        return
    rows = answer.read(list[WorkerLine])
    if not rows:
        print_notice("There is no worker yet: `tidegate worker` runs one.")
    show_table(
        ("ID", "ADDRESS", "STANDS", "SLOTS", "IN USE", "TASKS"),
        (
            (
                row.worker.id,
                row.worker.host,
                _format_state(row),
                row.worker.capacity,
                row.curr_capacity_used,
                len(row.running_tasks),
            )
            for row in rows
        ),
    )


def _format_state(row: WorkerLine) -> str:
    also = [word for word, so in (("disabled", row.disabled), ("stopping", row.stopping)) if so]
    return ", ".join([row.liveness, *also])


@commands.command()
def disable(worker_id: WorkerId, server: Server = None, output: Output = Format.TABLE) -> None:
    """Give a worker nothing new: it finishes what it has.  It stays so until it is enabled."""
    _change(worker_id, "disable", server, output)


@commands.command()
def enable(worker_id: WorkerId, server: Server = None, output: Output = Format.TABLE) -> None:
    """Let a disabled worker take tasks again."""
    _change(worker_id, "enable", server, output)


def _change(worker_id: str, verb: str, server: str | None, output: Format) -> None:
    with connect(server) as client:
        answer = client.post(path_of(WORKER, worker_id, verb))
    if output is Format.JSON:
        show_json(answer.json())
    else:
        show_done(worker_id, f"{worker_id} is {verb}d")
