"""`tidegate doctor`: check each part of an installation, and say how to fix problems."""

from collections.abc import Sequence
from typing import Annotated

import typer

from supervisor.cli.cluster.doctor.check import InstallationCheck, Result
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Server, connect
from supervisor.cli.shell.output import show_json, show_table, show_text
from supervisor.cli.shell.problems import FAILED
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import load_settings


def doctor(
    kafka: Annotated[
        str | None,
        typer.Option(
            "--kafka",
            metavar="HOST:PORT",
            show_default="those of the supervisors",
            help="The broker to ask.",
        ),
    ] = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Fetch the jars if they are not here yet.")
    ] = False,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Check Java, jars, broker, databases, folders, ports, overlord, executors, reports.

    Each line says what was found and, if it is a problem, what would mend it. Exit code 1 if
    there is a problem.
    """
    from supervisor.cli.cluster.doctor.diagnosis import (
        diagnose,  # Kafka, SQL and jars: only when asked for
    )

    try:
        settings = load_settings()
    except SetupProblem as error:
        checks = [InstallationCheck("settings", Result.PROBLEM, str(error), error.fix)]
    else:
        with connect(server) as client:
            found = diagnose(settings, client, kafka, named=server is not None, fetch=fetch)
            checks = list(found)
    _show(checks, output)
    if any(check.result is Result.PROBLEM for check in checks):
        raise typer.Exit(FAILED)


def _show(checks: Sequence[InstallationCheck], output: Format) -> None:
    if output is Format.JSON:
        show_json(
            [{"part": c.part, "result": c.result, "found": c.finding, "fix": c.fix} for c in checks]
        )
        return
    show_table(("PART", "RESULT", "FOUND"), ((c.part, c.result.value, c.finding) for c in checks))
    problems = [check for check in checks if check.result is Result.PROBLEM]
    show_text("")
    for check in problems:
        show_text(f"{check.part}: {check.fix}")
    show_text(f"{len(problems)} problems" if problems else "all is well")
