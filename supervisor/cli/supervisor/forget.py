"""`tidegate supervisor forget`: delete versions and offsets of a terminated supervisor."""

from typing import Annotated

import typer

from supervisor.cli.shell.client import path_of
from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.dry_runs import DryRun, Expect, VerbQuery, show_preview
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Reason, Server, SupervisorId, Yes, connect
from supervisor.cli.shell.output import show_done, show_json

WithReports = Annotated[
    bool,
    typer.Option("--reports", help="Its stored reports and logs go too; events and audit stay."),
]
SUPERVISORS_OF_OURS = "/api/v1/supervisors"


def forget(
    supervisor_id: SupervisorId,
    *,
    dry_run: DryRun = False,
    expect: Expect = None,
    reports: WithReports = False,
    yes: Yes = False,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Forget a terminated supervisor: its history and committed offsets go, its table stays.

    A new supervisor of the same id then reads its topic from the start, and rows that are still
    in the table come in once more.

    Example: tidegate supervisor forget clicks
    """
    query, path = VerbQuery(dry_run, expect), path_of(SUPERVISORS_OF_OURS, supervisor_id, "forget")
    if query.asks and not yes:
        confirm(
            f"Forget {supervisor_id}? Its spec versions and committed offsets are lost for good: a "
            "new supervisor of this id reads from the start and doubles rows that are still in "
            "the table. The table itself stays."
            + (" Its stored reports and logs go too." if reports else "")
        )
    with connect(server, reason) as client:
        more = {"reports": "true"} if reports else {}
        answer = query.send(client, lambda params: client.post(path, params={**params, **more}))
    if dry_run:
        show_preview(answer, output)
    elif output is Format.JSON:
        show_json(answer.json())
    else:
        show_done(supervisor_id, f"{supervisor_id} is forgotten; its table stays")
