"""`tidegate execution artifact`: an output of a step that is too large for its record."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from supervisor.cli.flow.look import EXECUTIONS, ExecutionId
from supervisor.cli.shell.client import path_of
from supervisor.cli.shell.options import Server, connect
from supervisor.cli.shell.output import print_notice, show_text
from supervisor.cli.shell.problems import CommandFailed

__all__ = ["artifact"]


def artifact(
    execution: ExecutionId,
    artifact_id: Annotated[
        str,
        typer.Argument(
            metavar="ARTIFACT", help="Id of the artifact, as `get` names it.", show_default=False
        ),
    ],
    *,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            "-f",
            metavar="FILE",
            show_default="to the screen",
            help="Write it to this new file.",
        ),
    ] = None,
    server: Server = None,
) -> None:
    """Show an output that is too large for its record: JSON, or the text that it is.

    Example: tidegate execution artifact orders:mon 1f0c-1-9a7b -f body.json
    """
    with connect(server) as client:
        content = client.get(path_of(EXECUTIONS, execution, "artifacts", artifact_id)).body
    if file is not None:
        _write(file, content)
        print_notice(f"{len(content)} bytes")
    elif sys.stdout.isatty():  # what another server has sent may hold codes for a terminal
        show_text(content.decode("utf-8", "replace"))
    else:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


def _write(target: Path, content: bytes) -> None:
    try:
        with target.open("xb") as file:
            file.write(content)
    except FileExistsError as error:
        raise CommandFailed(f"{target} is there already: name another file") from error
    except OSError as error:
        raise CommandFailed(f"{target} cannot be written: {error.strerror}") from error
