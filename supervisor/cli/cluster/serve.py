"""The commands that run processes: `overlord`, `worker`, `executor`, `persister`, `dev`."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from supervisor.core.values.field_types import parse_duration
from supervisor.dev.options import DevOptions
from supervisor.settings.settings import (
    EXECUTOR_PORT,
    OVERLORD_PORT,
    PERSISTER_PORT,
    WORKER_PORT,
    load_settings,
)


def _port(otherwise: int) -> object:
    return typer.Option(
        "--port",
        min=1,
        max=65_535,
        metavar="PORT",
        show_default=f"TIDEGATE_PORT, or {otherwise}",
        help="Port to listen on.",
    )


Port = Annotated[int | None, _port(OVERLORD_PORT)]
WorkerPort = Annotated[int | None, _port(WORKER_PORT)]
PersisterPort = Annotated[int | None, _port(PERSISTER_PORT)]
ExecutorPort = Annotated[int | None, _port(EXECUTOR_PORT)]
Host = Annotated[
    str | None,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        show_default="TIDEGATE_HOST, or 127.0.0.1",
        help="Address to listen on.",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        metavar="FOLDER",
        show_default="TIDEGATE_DATA_DIR, or ./.tidegate",
        help="The data folder: what must outlive the process.",
    ),
]
Slots = Annotated[
    int | None,
    typer.Option(
        "--slots",
        min=1,
        metavar="N",
        show_default="TIDEGATE_WORKER_SLOTS, or 4",
        help="Tasks at once.",
    ),
]

OwnBroker = Annotated[
    str | None,
    typer.Option(
        "--kafka",
        metavar="HOST:PORT",
        help="Your own broker; none is started.",
        show_default="a broker is started here",
    ),
]
Rate = Annotated[
    int,
    typer.Option(
        "--rate", metavar="N", min=1, max=100_000, help="With --sample: records a second."
    ),
]


def _duration(text: str) -> timedelta:
    try:
        return parse_duration(text)
    except ValueError as error:
        context = getattr(error, "context", None) or {}
        raise typer.BadParameter(f"{context.get('message')}: {context.get('hint')}") from None


def overlord(host: Host = None, port: Port = None, data_dir: DataDir = None) -> None:
    """Run an overlord: API, supervisors, and the lease that says who leads."""
    settings = load_settings(host=host, port=port, data_dir=data_dir)
    from supervisor.app import server

    raise typer.Exit(server.run_overlord(settings))


def worker(
    host: Host = None,
    port: WorkerPort = None,
    data_dir: DataDir = None,
    slots: Slots = None,
) -> None:
    """Run a worker: one Spark application that reads, writes and publishes for the overlord."""
    settings = load_settings(host=host, port=port, data_dir=data_dir, worker_slots=slots)
    from supervisor.app import worker as app_worker

    raise typer.Exit(app_worker.run_worker(settings))


def persister(
    host: Host = None,
    port: PersisterPort = None,
    data_dir: DataDir = None,
    executor_port: Annotated[
        int | None,
        typer.Option(
            "--executor-port",
            min=1,
            max=65_535,
            metavar="PORT",
            show_default="no executor",
            help="Run an executor in this process too, at this port.",
        ),
    ] = None,
) -> None:
    """Run a persister: it stores reports and logs of tasks, as fast as its stores allow."""
    settings = load_settings(host=host, port=port, data_dir=data_dir)
    if executor_port is not None:
        from supervisor.app.together import run_together

        raise typer.Exit(run_together(settings, executor_port))
    from supervisor.app.persister import run_persister

    raise typer.Exit(run_persister(settings))


def executor(host: Host = None, port: ExecutorPort = None, data_dir: DataDir = None) -> None:
    """Run an executor: flows whose state is on Kafka's topics; any number share the work."""
    settings = load_settings(host=host, port=port, data_dir=data_dir)
    from supervisor.app.executions.executor import run_executor

    raise typer.Exit(run_executor(settings))


def dev(
    *,
    sample: Annotated[
        bool, typer.Option("--sample", help="Fill a topic with a sample stream and supervise it.")
    ] = False,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Like --sample, and show publishes, a query and a verify."),
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="With --demo: end when it has been shown.")
    ] = False,
    kafka: OwnBroker = None,
    port: Port = None,
    data_dir: DataDir = None,
    task_duration: Annotated[
        timedelta,
        typer.Option(
            "--task-duration",
            metavar="DURATION",
            parser=_duration,
            help="With --sample: publish so often; ISO 8601, such as PT30S.",
        ),
    ] = "PT1M",  # type: ignore[assignment]  # typer parses a default as it does an argument
    rate: Rate = 200,
) -> None:
    """Run everything on this machine: a Kafka broker, an overlord and a worker.

    Data stays in the data folder; a second start goes on where the first one stopped.

    Example: tidegate dev --sample
    """
    settings = load_settings(port=port, data_dir=data_dir)
    options = DevOptions(
        sample=sample,
        demo=demo,
        once=once,
        kafka=kafka,
        task_duration=task_duration,
        rate=rate,
    )
    from supervisor.dev.run import Dev

    raise typer.Exit(Dev(settings, options).run())
