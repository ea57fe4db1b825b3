"""`tidegate audit`: list the audit log."""

from datetime import datetime
from typing import Annotated

import typer

from supervisor.cli.shell.client import Params
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Limit, Output, Server, connect
from supervisor.cli.shell.output import print_notice
from supervisor.cli.shell.resource import Resource
from supervisor.views.history import AuditPage, AuditView

Cursor = Annotated[
    str | None,
    typer.Option(
        "--cursor",
        metavar="CURSOR",
        help="Go on behind a page, with what it ended with.",
        show_default="the newest",
    ),
]


def audit(
    *,
    supervisor: Annotated[
        str | None,
        typer.Option(
            "--supervisor",
            metavar="ID",
            help="Only what concerns this supervisor.",
            show_default="all",
        ),
    ] = None,
    action: Annotated[
        str | None,
        typer.Option(
            "--action",
            metavar="ACTION",
            help="Only this action, such as apply or reset.",
            show_default="all",
        ),
    ] = None,
    actor: Annotated[
        str | None,
        typer.Option(
            "--actor",
            metavar="NAME",
            help="Only what this user or token did.",
            show_default="all",
        ),
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """List who changed what and when, newest first.

    Example: tidegate audit --supervisor clicks --action reset
    """
    filters = {"supervisor": supervisor, "action": action, "actor": actor, "cursor": cursor}
    params: Params = {"limit": limit} | {k: v for k, v in filters.items() if v is not None}
    with connect(server) as client:
        answer = client.get(_AUDIT.path, params)
    _AUDIT.show(answer, output)
    if output is not Format.JSON and (following := answer.read(AuditPage).next) is not None:
        print_notice(f"There is more: --cursor {following}")


def _row(entry: AuditView, _: datetime) -> tuple[object, ...]:
    detail = "; ".join(f"{name}: {value}" for name, value in entry.detail.items() if value)
    at = entry.at.isoformat(timespec="seconds")
    return at, entry.actor, entry.action, entry.subject, detail, entry.reason


_AUDIT = Resource(
    path="/api/v1/audit",
    part="entries",
    rows=list[AuditView],
    columns=("WHEN", "WHO", "DID", "TO", "DETAIL", "REASON"),
    cells=_row,
)
