"""The commands that run processes: `overlord`, `worker`, `dev`."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from supervisor.core.spec_fields import parse_duration
from supervisor.dev_options import DevOptions
from supervisor.settings import load_settings

Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        min=1,
        max=65_535,
        show_default=False,
        help="Port. [default: TIDEGATE_PORT, or 8090; of workers 8091]",
    ),
]
Host = Annotated[
    str | None,
    typer.Option(
        "--host",
        show_default=False,
        help="Address to listen on. [default: TIDEGATE_HOST, or 127.0.0.1]",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="FOLDER", show_default=False, help="The data folder."),
]
Slots = Annotated[
    int | None,
    typer.Option(
        "--slots",
        min=1,
        show_default=False,
        help="Tasks at once. [default: TIDEGATE_WORKER_SLOTS, or 4]",
    ),
]


def _duration(text: str) -> timedelta:
    try:
        return parse_duration(text)
    except ValueError as error:
        context = getattr(error, "context", None) or {}
        raise typer.BadParameter(f"{context.get('told')}: {context.get('hint')}") from None


def overlord(host: Host = None, port: Port = None, data_dir: DataDir = None) -> None:
    """Run an overlord: API, supervisors, and the lease that says who leads."""
    settings = load_settings(host=host, port=port, data_dir=data_dir)
    from supervisor import app

    raise typer.Exit(app.run_overlord(settings))


def worker(
    host: Host = None,
    port: Port = None,
    data_dir: DataDir = None,
    slots: Slots = None,
) -> None:
    """Run a worker: one Spark application that reads, writes and publishes for the overlord."""
    settings = load_settings(host=host, port=port, data_dir=data_dir, worker_slots=slots)
    from supervisor import app

    raise typer.Exit(app.run_worker(settings))


def dev(
    *,
    sample: Annotated[
        bool, typer.Option("--sample", help="Fill a topic with a sample stream and supervise it.")
    ] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Also show publishes, a query and a verify.")
    ] = False,
    once: Annotated[bool, typer.Option("--once", help="End when the demo has been shown.")] = False,
    kafka: Annotated[
        str | None,
        typer.Option("--kafka", metavar="HOST:PORT", help="Your own broker; none is started."),
    ] = None,
    port: Port = None,
    data_dir: DataDir = None,
    task_duration: Annotated[
        timedelta,
        typer.Option(
            "--task-duration",
            metavar="DURATION",
            parser=_duration,
            help="The sample is published so often, ISO 8601.",
        ),
    ] = "PT1M",  # type: ignore[assignment]  # typer parses a default as it does an argument
    rate: Annotated[
        int, typer.Option("--rate", min=1, max=100_000, help="Sample records a second.")
    ] = 200,
) -> None:
    """Run everything on this machine: a Kafka broker, an overlord and a worker.

    Data stays in the data folder; a second start goes on where the first one stopped.
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
    from supervisor import app

    raise typer.Exit(app.run_dev(settings, options))
