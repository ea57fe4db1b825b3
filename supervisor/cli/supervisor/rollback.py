"""`tidegate supervisor rollback`: apply an earlier version again, after a preview."""

import json
from itertools import islice
from typing import Annotated

import typer

from supervisor.cli.shell.client import OURS, SUPERVISORS, Client, path_of
from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Reason, Server, SupervisorId, Wait, Yes, connect
from supervisor.cli.shell.output import print_notice, show_done, show_json
from supervisor.cli.shell.pages import linked_pages
from supervisor.cli.shell.problems import CommandFailed
from supervisor.cli.shell.wait import wait_until_applied
from supervisor.cli.supervisor.apply import describe_impact
from supervisor.views.supervisors.specs import HistoryRow, Posted

_ENDED = "noop"
_AT_ONCE = 10
"""Versions that are looked through with one request."""


def rollback(
    supervisor_id: SupervisorId,
    *,
    to: Annotated[
        int | None,
        typer.Option(
            "--to",
            metavar="VERSION",
            min=1,
            show_default="the one before the newest",
            help="Number of a version, as `supervisor history` shows it.",
        ),
    ] = None,
    yes: Yes = False,
    wait: Wait = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Put an earlier version of a spec in force again; it becomes the newest version.

    Prints what changes, and what that disturbs, before it asks. A terminated supervisor comes back.

    Example: tidegate supervisor rollback clicks --to 3
    """
    with connect(server, reason) as client:
        version = _before(client, supervisor_id) if to is None else to
        path, body = path_of(OURS, supervisor_id, "rollback"), {"version": version}
        sent = json.dumps(body).encode()
        seen = client.post(path, sent, {"dryRun": "true"})
        # A terminated supervisor has no spec, and so no ETag.
        headers = {"If-Match": seen.etag} if seen.etag else {"If-None-Match": "*"}
        if not yes:
            *lines, _ = describe_impact(seen.read(Posted)).splitlines()
            for line in lines or ["nothing that is in force changes"]:
                print_notice(line)
            confirm(f"Roll {supervisor_id} back to version {version}?")
        # With the ETag of the preview, so that the request fails if the spec has changed since.
        answer = client.post(path, sent, headers=headers)
        applied = answer.read(Posted)
        for warning in applied.warnings:
            print_notice(f"warning: {warning}")
        if wait is not None:
            wait_until_applied(client, supervisor_id, answer.operation, wait)
    if output is Format.JSON:
        show_json(answer.json())
    else:
        message = f"{supervisor_id} is as in version {version}, now version {applied.version}"
        show_done(supervisor_id, message)


def _before(client: Client, supervisor_id: str) -> int:
    path = path_of(SUPERVISORS, supervisor_id, "history")
    pages = linked_pages(client, path, {"count": str(_AT_ONCE)})
    versions = (version for page in pages for version in page.read(list[HistoryRow]))
    earlier = (v for v in islice(versions, 1, None) if v.spec.get("type") != _ENDED)
    previous = next(earlier, None)
    if previous is None or not previous.version_number:
        raise CommandFailed(
            f"{supervisor_id} has no version before the newest",
            f"`tidegate supervisor history {supervisor_id}` lists them",
        )
    return previous.version_number
