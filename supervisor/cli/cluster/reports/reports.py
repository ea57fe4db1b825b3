"""`tidegate reports ...`: how persisters are, pause and resume, and a table of the records."""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Annotated

import typer
from pydantic import BaseModel

from supervisor.app.brokers import report_brokers
from supervisor.cli.cluster.reports import letters
from supervisor.cli.cluster.reports.connection import PersisterUrl, asking, persisters
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.groups import HelpSections
from supervisor.cli.shell.options import Output
from supervisor.cli.shell.output import (
    print_notice,
    short_duration,
    show_facts,
    show_json,
    show_text,
)
from supervisor.cli.shell.problems import FAILED, Unreachable
from supervisor.core.reports.table_spec import spec_of_records
from supervisor.settings.settings import load_settings

commands = typer.Typer(
    no_args_is_help=True, cls=HelpSections, help="Persisters: stored reports and logs."
)
commands.add_typer(letters.commands, name="dead")
_WELL = {"RUNNING", "BACKING_OFF"}


class PersisterStatusView(BaseModel):
    """What a persister says of itself."""

    state: str
    reason: str = ""
    fix: str = ""
    stored: int | None = None
    conflicts: int | None = None
    rejected: int | None = None
    deadLetters: int | None = None  # noqa: N815 -- its name on the wire
    lag: Mapping[str, int] | None = None
    lagSeconds: Mapping[str, float | None] | None = None  # noqa: N815 -- same
    lostOffsets: Mapping[str, int] | None = None  # noqa: N815 -- same


@commands.callback()
def _group() -> None:
    """Persisters: stored reports and logs."""


@commands.command()
def status(*, persister: PersisterUrl = None, output: Output = Format.TABLE) -> None:
    """Show how the persisters are: state, lag of each topic, counts, dead letters, what to do.

    Exit code 1 if one does not answer or stores nothing.

    Example: tidegate reports status
    """
    answers: dict[str, object] = {}
    ok = True
    for url in persisters(persister):
        try:
            with asking(url) as client:
                answer = client.get("/status")
        except Unreachable as error:
            ok = False
            answers[url] = {"state": None, "reason": str(error)}
            if output is not Format.JSON:
                show_facts([("persister", url), ("state", "no answer"), ("last error", error)])
            continue
        view = answer.read(PersisterStatusView)
        ok = ok and view.state in _WELL
        answers[url] = answer.json()
        if output is not Format.JSON:
            show_facts([("persister", url), *_facts(view)])
    if output is Format.JSON:
        show_json(answers)
    if not ok:
        raise typer.Exit(FAILED)


def _facts(view: PersisterStatusView) -> Iterator[tuple[str, object]]:
    yield "state", view.state
    for topic, records in sorted((view.lag or {}).items()):
        seconds = (view.lagSeconds or {}).get(topic)
        age = f", {short_duration(timedelta(seconds=seconds))}" if seconds else ""
        yield f"behind in {topic}", f"{records} records{age}"
    yield "stored", view.stored
    yield "conflicts", view.conflicts
    if lost := sum((view.lostOffsets or {}).values()):
        yield "lost to the topics' retention", f"{lost} records"
    dead = view.deadLetters
    yield "dead letters", "not known yet" if dead is None else dead
    if view.reason:
        yield "last error", view.reason
    if view.fix:
        yield "what to do", view.fix


@commands.command()
def pause(*, persister: PersisterUrl = None) -> None:
    """Store nothing until `resume`: the topics keep what is sent.

    Example: tidegate reports pause
    """
    _all("pause", persister)


@commands.command()
def resume(*, persister: PersisterUrl = None) -> None:
    """Go on storing, after a pause or after a persister gave up.

    Example: tidegate reports resume
    """
    _all("resume", persister)


def _all(verb: str, given: str | None) -> None:
    for url in persisters(given):
        with asking(url) as client:
            view = client.post(f"/{verb}").read(PersisterStatusView)
        show_text(f"{url}: {view.state}{f', {view.reason}' if view.reason else ''}")


@commands.command()
def spec(
    *,
    kafka: Annotated[
        str | None,
        typer.Option(
            "--kafka",
            metavar="HOST:PORT",
            show_default="TIDEGATE_REPORTS_KAFKA",
            help="Bootstrap servers of the topics of reports.",
        ),
    ] = None,
    data_source: Annotated[
        str, typer.Option("--data-source", metavar="TABLE", help="Name of the table.")
    ] = "reports",
) -> None:
    """Print a supervisor spec that makes the records of reports a table of Tidegate itself.

    Logs are not in it, and its own records are: each task that reads them reports in turn, so give
    it a long taskDuration.

    Example: tidegate reports spec | tidegate supervisor apply -f -
    """
    settings = load_settings()
    client = {} if kafka else report_brokers(settings) or {}
    brokers = kafka or client.get("bootstrap.servers")
    if brokers is None:
        raise typer.BadParameter("name the brokers: --kafka, or TIDEGATE_REPORTS_KAFKA")
    pattern = rf"{re.escape(settings.reports_prefix)}completed[.-].*"
    show_json(spec_of_records(brokers, pattern, data_source))
    print_notice("Next: tidegate supervisor apply -f FILE")
