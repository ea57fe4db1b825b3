"""`tidegate supervisor ...`: what the control plane offers, one command per verb."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from supervisor.cli.answers import Applied, SpecVersion, Status, SupervisorRow
from supervisor.cli.client import SUPERVISORS, Answer, Client, path_of
from supervisor.cli.confirm import confirm
from supervisor.cli.dry_run import DryRun, dry_run
from supervisor.cli.history import version_rows
from supervisor.cli.options import Output, Server, SupervisorId, Wait, Yes, connect
from supervisor.cli.output import Format, say, show_json, show_table, show_text
from supervisor.cli.problems import FAILED, CommandFailed
from supervisor.cli.status import show_status
from supervisor.cli.wait import wait_until_at_rest, wait_until_done, wait_until_reading
from supervisor.core.spec_schema import spec_schema

commands = typer.Typer(no_args_is_help=True, help="Streams that are turned into tables.")

_UNHEALTHY = 503
_SHOWN_MAX = 80
"""Characters of a value that `apply` has changed."""


@commands.command()
def apply(
    file: Annotated[
        str,
        typer.Option("--file", "-f", metavar="FILE", help="The spec, JSON; - reads stdin."),
    ],
    wait: Wait = None,
    server: Server = None,
    output: Output = Format.TABLE,
    *,
    dry: DryRun = None,
) -> None:
    """Create a supervisor from a spec, or change one; an unchanged spec changes nothing."""
    body = _read(file)
    if dry is not None:
        dry_run(body, dry, server, output)
        return
    with connect(server) as client:
        answer = client.post(SUPERVISORS, body, {"skipRestartIfUnmodified": "true"})
        applied = answer.read(Applied)
        for warning in applied.warnings:
            say(f"warning: {warning}")
        if wait is not None:
            left = _wait_first(client, answer, wait)
            wait_until_reading(client, applied.id, left)
    if output is Format.JSON:
        show_json(answer.json())
    else:
        for change in applied.changes:
            show_text(
                f"{change.field}: {_short(change.old)} -> {_short(change.new)} ({change.effect})"
            )
        unchanged = applied.modified is False
        show_text(f"{applied.id} is unchanged" if unchanged else f"{applied.id} is applied")


@commands.command()
def schema() -> None:
    """Print the JSON Schema of a spec, for editors: they complete and check while you type."""
    show_json(spec_schema())


@commands.command("list")
def list_all(server: Server = None, output: Output = Format.TABLE) -> None:
    """List all supervisors and how they stand."""
    with connect(server) as client:
        answer = client.get(SUPERVISORS, {"state": "true"})
    if output is Format.JSON:
        show_json(answer.json())
        return
    rows = answer.read(list[SupervisorRow])
    if not rows:
        say("There is no supervisor yet: `tidegate supervisor init` makes a spec from a topic.")
    show_table(
        ("ID", "STATE", "DETAIL", "HEALTHY"),
        ((r.id, r.state, r.detailed_state, "yes" if r.healthy else "no") for r in rows),
    )


@commands.command()
def get(supervisor_id: SupervisorId, server: Server = None, output: Output = Format.JSON) -> None:  # noqa: ARG001 -- a spec is JSON, whatever is asked
    """Print the spec as it is in force, as JSON."""
    with connect(server) as client:
        show_json(client.get(path_of(SUPERVISORS, supervisor_id)).json())


@commands.command()
def status(
    supervisor_id: SupervisorId, server: Server = None, output: Output = Format.TABLE
) -> None:
    """Show how a supervisor stands and why: offsets, lag, tasks, when it publishes next."""
    with connect(server) as client:
        answer = client.get(path_of(SUPERVISORS, supervisor_id, "status"))
    if output is Format.JSON:
        show_json(answer.json())
    else:
        show_status(answer.read(Status), datetime.now(UTC))


@commands.command()
def health(
    supervisor_id: SupervisorId, server: Server = None, output: Output = Format.TABLE
) -> None:
    """Tell whether a supervisor is healthy; exit code 1 if it is not."""
    with connect(server) as client:
        path = path_of(SUPERVISORS, supervisor_id, "health")
        answer = client.get(path, also=(_UNHEALTHY,))
    told = answer.read(dict[str, object])
    healthy = told.get("healthy") is True
    if "healthy" not in told:  # a 503 about something else
        raise CommandFailed(f"{answer.server}: {told.get('detail') or told.get('error') or told}")
    if output is Format.JSON:
        show_json(told)
    else:
        show_text(f"{supervisor_id} is {'healthy' if healthy else 'not healthy'}")
    if not healthy:
        raise typer.Exit(FAILED)


@commands.command()
def history(
    supervisor_id: SupervisorId,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="At most so many.")
    ] = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List the versions of a spec, newest first, and what each changed."""
    with connect(server) as client:
        path = path_of(SUPERVISORS, supervisor_id, "history")
        answer = client.get(path, {} if count is None else {"count": count})
    if output is Format.JSON:
        show_json(answer.json())
    else:
        versions = answer.read(list[SpecVersion])
        show_table(("VERSION", "WHAT", "CHANGED"), version_rows(versions))


@commands.command()
def suspend(
    supervisor_id: SupervisorId,
    wait: Wait = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Suspend a supervisor: its groups hand off and publish, and nothing new starts."""
    with connect(server) as client:
        answer = client.post(path_of(SUPERVISORS, supervisor_id, "suspend"))
        if wait is not None:
            _wait_for_rest(client, supervisor_id, answer, wait)
    if output is Format.JSON:
        show_json(answer.json())
    else:
        show_text(f"{supervisor_id} is suspended")


@commands.command()
def resume(
    supervisor_id: SupervisorId,
    wait: Wait = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Resume a suspended supervisor where it stopped."""
    with connect(server) as client:
        answer = client.post(path_of(SUPERVISORS, supervisor_id, "resume"))
        if wait is not None:
            left = _wait_first(client, answer, wait)
            wait_until_reading(client, supervisor_id, left)
    if output is Format.JSON:
        show_json(answer.json())
    else:
        show_text(f"{supervisor_id} runs")


@commands.command()
def terminate(
    supervisor_id: SupervisorId,
    yes: Yes = False,
    wait: Wait = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """End a supervisor: what it has read is published, and its table stays."""
    if not yes:
        confirm(f"Terminate {supervisor_id}?")
    with connect(server) as client:
        answer = client.post(path_of(SUPERVISORS, supervisor_id, "terminate"))
        if wait is not None:
            _wait_for_rest(client, supervisor_id, answer, wait)
    if output is Format.JSON:
        show_json(answer.json())
    else:
        show_text(f"{supervisor_id} is terminated; its table stays")


def _wait_first(client: Client, answer: Answer, seconds: float) -> float:
    """Wait for the operation of an answer; return what is left of the time."""
    if answer.operation is None:  # nothing was to be done, or the overlord is an older one
        return seconds
    return wait_until_done(client, answer.operation, seconds)


def _wait_for_rest(client: Client, supervisor_id: str, answer: Answer, seconds: float) -> None:
    if answer.operation is None:
        wait_until_at_rest(client, supervisor_id, seconds)
    else:
        wait_until_done(client, answer.operation, seconds)


def _short(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."


def _read(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise CommandFailed(f"{file} cannot be read: {error.strerror}") from error
