"""`tidegate supervisor ...`: the group of commands on supervisors."""

from datetime import UTC, datetime
from typing import Annotated

import typer
from pydantic import JsonValue

from supervisor.cli.shell.client import OURS, SUPERVISORS, path_of
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.groups import OfSupervisors
from supervisor.cli.shell.options import Output, Server, SupervisorId, connect
from supervisor.cli.shell.output import (
    print_notice,
    show_done,
    show_json,
    show_name,
    show_table,
    show_text,
)
from supervisor.cli.shell.pages import linked_rows_up_to, rows_up_to
from supervisor.cli.shell.problems import FAILED, CommandFailed
from supervisor.cli.shell.resource import Resource
from supervisor.cli.shell.selection import All, Ids, InState, OfDataSource, Selection
from supervisor.cli.supervisor.history import VERSIONS, version_rows
from supervisor.cli.supervisor.status import show_status
from supervisor.cli.supervisor.watch import API
from supervisor.core.spec.json_schema import spec_schema
from supervisor.views.status import SupervisorStatus
from supervisor.views.supervisors.specs import HistoryRow, SupervisorLine
from supervisor.views.supervisors.terminated import TerminatedPage, TerminatedRow

commands = typer.Typer(
    no_args_is_help=True, cls=OfSupervisors, help="Streams that are turned into tables."
)

_UNHEALTHY = 503
_WHO_MAX = 1_000


@commands.command()
def schema() -> None:
    """Print the JSON Schema of a spec, for editors: they complete and check while you type.

    Example: tidegate supervisor schema > supervisor-spec.schema.json
    """
    show_json(spec_schema())


_SUPERVISORS = Resource(
    path=SUPERVISORS,
    params={"state": "true"},
    rows=list[SupervisorLine],
    columns=("ID", "STATE", "DETAIL", "HEALTHY"),
    wide=("TABLE", "SUSPENDED"),
    cells=lambda row, _: (
        row.id,
        row.state,
        row.detailed_state,
        "yes" if row.healthy else "no",
        row.data_source,
        "yes" if row.suspended else "no",
    ),
    nothing="There is no supervisor yet: `tidegate supervisor init` makes a spec from a topic.",
)
_TERMINATED = Resource(
    path=f"{OURS}/terminated",
    part="supervisors",
    rows=list[TerminatedRow],
    columns=("ID", "TERMINATED", "WHO", "REASON", "VERSION"),
    wide=("TABLE",),
    cells=lambda row, _: (
        row.id,
        f"{row.terminated_at:%Y-%m-%d %H:%M:%S}",
        row.terminated_by,
        row.reason,
        row.version,
        row.data_source,
    ),
    nothing="No supervisor is terminated, or each of them is forgotten.",
)
_TERMINATED_MAX = 10_000


@commands.command("list")
def list_all(
    *,
    terminated: Annotated[
        bool,
        typer.Option("--terminated", help="Those that are terminated and not forgotten instead."),
    ] = False,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List all supervisors and how they stand, or how those ended that are terminated.

    A terminated one is brought back by `tidegate supervisor rollback ID --to VERSION`.

    \b
    Examples:
      tidegate supervisor list -o wide
      tidegate supervisor list -o name | xargs tidegate supervisor status
      tidegate supervisor list --terminated
    """
    with connect(server) as client:
        if not terminated:
            answer = client.get(_SUPERVISORS.path, _SUPERVISORS.params)
            _SUPERVISORS.show(answer, output)
            return
        answer = rows_up_to(client, _TERMINATED.path, "supervisors", _TERMINATED_MAX)
    _TERMINATED.show(answer, output)
    page = answer.read(TerminatedPage)
    if len(page.supervisors) < page.matching and output is not Format.JSON:
        print_notice(f"the newest {len(page.supervisors)} of {page.matching} are shown")


@commands.command()
def get(supervisor_id: SupervisorId, server: Server = None, output: Output = Format.JSON) -> None:
    """Print the spec as it is in force: JSON, or -o yaml.

    What it prints can be edited and applied again.

    Example: tidegate supervisor get clicks -o yaml > clicks.yaml
    """
    with connect(server) as client:
        answer = client.get(path_of(SUPERVISORS, supervisor_id))
    if output is Format.JSON:
        show_json(answer.json())
        return
    show_name(supervisor_id)
    spec = answer.read(dict[str, JsonValue])
    show_table(
        ("ID", "TYPE", "SUSPENDED", "ETAG"),
        [(supervisor_id, spec.get("type"), "yes" if spec.get("suspended") else "no", answer.etag)],
    )


@commands.command()
def status(
    supervisor_ids: Ids = None,
    *,
    all_: All = False,
    data_source: OfDataSource = None,
    state: InState = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Show how supervisors stand and why: offsets, lag, tasks, when they publish next.

    \b
    Examples:
      tidegate supervisor status clicks
      tidegate supervisor status --state UNHEALTHY_TASKS
    """
    chosen = Selection(supervisor_ids or (), all_, data_source, state)
    chosen.check()
    with connect(server) as client:
        ids = chosen.choose(client)
        answers = [client.get(path_of(SUPERVISORS, each, "status")) for each in ids]
    if output is Format.JSON:
        statuses = [answer.json() for answer in answers]
        show_json(statuses[0] if chosen.alone else statuses)
        return
    for number, answer in enumerate(answers):
        if number:
            show_text("")
        show_status(answer.read(SupervisorStatus), datetime.now(UTC))


@commands.command()
def health(
    supervisor_id: SupervisorId, server: Server = None, output: Output = Format.TABLE
) -> None:
    """Tell whether a supervisor is healthy; exit code 1 if it is not.

    Example: tidegate supervisor health clicks || echo "look at clicks"
    """
    with connect(server) as client:
        path = path_of(SUPERVISORS, supervisor_id, "health")
        answer = client.get(path, also=(_UNHEALTHY,))
    document = answer.read(dict[str, object])
    healthy = document.get("healthy") is True
    if "healthy" not in document:  # a 503 about something else
        raise CommandFailed(
            f"{answer.server}: {document.get('detail') or document.get('error') or document}"
        )
    if output is Format.JSON:
        show_json(document)
    else:
        show_done(supervisor_id, f"{supervisor_id} is {'healthy' if healthy else 'not healthy'}")
    if not healthy:
        raise typer.Exit(FAILED)


@commands.command()
def history(
    supervisor_id: SupervisorId,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="At most so many.")
    ] = 100,
    who: Annotated[
        bool, typer.Option("--who", help="Show who stored each version, and by which operation.")
    ] = False,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List the newest versions of a spec, and what each changed.

    Example: tidegate supervisor history clicks -n 5 --who
    """
    if who:
        with connect(server) as client:
            path = path_of(API, supervisor_id, "history")
            answer = rows_up_to(client, path, "versions", min(limit, _WHO_MAX))
        VERSIONS.show(answer, output)
        return
    with connect(server) as client:
        path = path_of(SUPERVISORS, supervisor_id, "history")
        answer = linked_rows_up_to(client, path, limit)
    if output is Format.JSON:
        show_json(answer.json())
    else:
        versions = answer.read(list[HistoryRow])
        show_table(("NUMBER", "VERSION", "WHAT", "CHANGED"), version_rows(versions))
