"""`tidegate supervisor bundle`: all that a person on call hands over, in one file."""

from pathlib import Path
from typing import Annotated

import typer

from supervisor.cli.shell.client import path_of
from supervisor.cli.shell.options import Server, SupervisorId, connect
from supervisor.cli.shell.output import print_notice, show_text
from supervisor.cli.shell.problems import CommandFailed
from supervisor.cli.supervisor.watch import API
from supervisor.core.history.bundle import file_name_of


def bundle(
    supervisor_id: SupervisorId,
    *,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            "-f",
            metavar="FILE",
            show_default="ID-bundle.zip",
            help="Write the archive to this new file.",
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", show_default="now", help="The middle of the window."),
    ] = None,
    window: Annotated[
        str, typer.Option("--window", metavar="DURATION", help="So long before and after.")
    ] = "PT30M",
    server: Server = None,
) -> None:
    """Save an incident bundle of a supervisor: a zip with what helps to understand what happened.

    Explanation, state, events, ranges, plans, lag, specs and the logs of failed tasks; secrets are
    masked. Its manifest.json says what was cut, and what could not be read.

    \b
    Examples:
      tidegate supervisor bundle clicks
      tidegate supervisor bundle clicks --at 2026-01-05T03:10:00Z -f night.zip
    """
    target = file or Path(f"{file_name_of(supervisor_id)}-bundle.zip")
    params = {"window": window} | ({} if at is None else {"at": at})
    with connect(server) as client:
        answer = client.get(path_of(API, supervisor_id, "bundle"), params)
    _write(target, answer.body)
    show_text(str(target))
    print_notice(f"{len(answer.body)} bytes; manifest.json in it says what is there")


def _write(target: Path, content: bytes) -> None:
    try:
        with target.open("xb") as file:
            file.write(content)
    except FileExistsError as error:
        raise CommandFailed(f"{target} is there already: name another file") from error
    except OSError as error:
        raise CommandFailed(f"{target} cannot be written: {error.strerror}") from error
