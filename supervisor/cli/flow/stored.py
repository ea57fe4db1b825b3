"""`tidegate flow apply, list, get, history, rollback, delete`: flows that an overlord keeps."""

import json
from datetime import UTC, datetime
from typing import Annotated

import typer
from pydantic import JsonValue

from supervisor.cli.flow.firing import FLOWS, last_of, next_of, triggers_of, troubles, whole_story
from supervisor.cli.flow.if_version import IfFirst, IfVersion, precondition
from supervisor.cli.shell.client import path_of
from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.form import Format, form
from supervisor.cli.shell.options import Limit, Output, Reason, Server, Yes, connect
from supervisor.cli.shell.output import (
    ago,
    print_notice,
    short_json,
    show_done,
    show_json,
    show_name,
    show_table,
    show_text,
)
from supervisor.cli.shell.problems import FAILED, CommandFailed
from supervisor.cli.supervisor.spec_files import read_specs
from supervisor.core.values.json_bodies import parse_document
from supervisor.views.flows.flows import (
    AppliedFlowView,
    FlowDiffView,
    FlowPage,
    FlowVersionsPage,
    FlowVersionView,
)

__all__ = ["FlowId", "add_stored"]

FlowId = Annotated[
    str, typer.Argument(metavar="FLOW", help="Name of the flow.", show_default=False)
]
Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE", help="Flows, JSON or YAML, or folders of them; - reads stdin."),
]


def apply(
    files: Files,
    if_version: IfFirst = None,
    *,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Store flows; one that is equal to its newest version makes none.

    Example: tidegate flow apply orders-day.yaml --if-version 3
    """
    applied = []
    with connect(server, reason) as client:
        specs = list(read_specs(files))
        if if_version is not None and len(specs) != 1:
            raise CommandFailed(
                f"--if-version is the version of one flow, and there are {len(specs)}",
                "apply them one by one",
            )
        for spec in specs:
            if isinstance(spec.body, CommandFailed):
                raise spec.body
            document = parse_document(spec.body)
            headers = precondition(client, str(document.get("flow", "")), if_version)
            answer = client.post(FLOWS, json.dumps(document).encode(), headers=headers)
            applied.append(answer.read(AppliedFlowView))
    if output is Format.JSON:
        show_json([each.model_dump(mode="json", by_alias=True) for each in applied])
        return
    for each in applied:
        what = f"version {each.flow.version}" if each.changed else "unchanged"
        show_done(each.flow.flow, f"{each.flow.flow}: {what}")


def list_all(limit: Limit = 100, server: Server = None, output: Output = Format.TABLE) -> None:
    """List flows, by name: when their triggers fired and fire next, and why one did not."""
    with connect(server) as client:
        page = client.get(FLOWS, {"limit": str(limit)}).read(FlowPage)
        if output is Format.JSON:
            show_json([each.model_dump(mode="json", by_alias=True) for each in page.flows])
            return
        names_only = form() is Format.NAME
        firing = {
            f.flow: [] if names_only else triggers_of(client, f.flow, f.document)
            for f in page.flows
        }
    now = datetime.now(UTC)
    show_table(
        ("FLOW", "VERSION", "SINCE", "BY", "FIRED", "FIRES NEXT", "REASON"),
        (
            (
                f.flow,
                f.version,
                ago(f.at, now),
                f.author,
                last_of(firing[f.flow], now),
                next_of(firing[f.flow]),
                f.reason or "",
            )
            for f in page.flows
        ),
    )
    for flow, triggers in firing.items():
        for trouble in troubles(triggers, flow, now):
            show_text(trouble)
    if not page.flows:
        print_notice("There is no flow: tidegate flow apply FILE")
    elif page.next is not None:
        print_notice("There are more: raise --limit.")


def get(
    flow: FlowId,
    version: Annotated[
        int | None, typer.Option("--version", min=1, show_default="the newest", help="Of this one.")
    ] = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Print a flow as it was applied, as JSON.

    Its triggers follow on stderr, unless --version or -o json is given: when each fired and fires
    next, and why it did not.
    """
    path = path_of(FLOWS, flow)
    if version is not None:
        path = f"{path}/versions/{version}"
    with connect(server) as client:
        stored = client.get(path).read(FlowVersionView)
        in_words = output is not Format.JSON and form() is not Format.NAME and version is None
        triggers = triggers_of(client, flow, stored.document) if in_words else []
    if form() is Format.NAME:
        show_name(stored.flow)
    else:
        show_json(stored.document)
    for trigger in triggers:
        print_notice(whole_story(trigger, datetime.now(UTC)))


def history(
    flow: FlowId, limit: Limit = 100, server: Server = None, output: Output = Format.TABLE
) -> None:
    """List the versions of a flow, newest first; of a deleted one, too."""
    with connect(server) as client:
        page = client.get(f"{path_of(FLOWS, flow)}/versions", {"limit": str(limit)}).read(
            FlowVersionsPage
        )
    if output is Format.JSON:
        show_json([each.model_dump(mode="json", by_alias=True) for each in page.versions])
        return
    now = datetime.now(UTC)
    show_table(
        ("VERSION", "SINCE", "BY", "WHAT", "REASON"),
        (
            (
                each.version,
                ago(each.at, now),
                each.author,
                "deleted" if each.document is None else "",
                each.reason or "",
            )
            for each in page.versions
        ),
    )


def diff(
    flow: FlowId,
    old: Annotated[
        int | None,
        typer.Option("--from", min=1, show_default="the one before", help="The older version."),
    ] = None,
    new: Annotated[
        int | None, typer.Option("--to", min=1, show_default="the newest", help="The newer one.")
    ] = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Show what differs between two versions of a flow; exit code 1 if something does.

    Example: tidegate flow diff orders-day --from 1
    """
    wanted = {"from": old, "to": new}
    params = {name: str(value) for name, value in wanted.items() if value is not None}
    with connect(server) as client:
        compared = client.get(path_of(FLOWS, flow, "diff"), params).read(FlowDiffView)
    if output is Format.JSON:
        show_json(compared.model_dump(mode="json", by_alias=True))
    else:
        show_table(
            ("PLACE", f"VERSION {compared.old}", f"VERSION {compared.new}"),
            ((each.place, _cell(each.old), _cell(each.new)) for each in compared.differences),
        )
    if compared.differences:
        raise typer.Exit(FAILED)
    print_notice(f"Versions {compared.old} and {compared.new} are equal.")


def _cell(value: JsonValue) -> str:
    return "" if value is None else short_json(value)


def rollback(
    flow: FlowId,
    version: Annotated[int, typer.Argument(metavar="VERSION", min=1, show_default=False)],
    if_version: IfVersion = None,
    *,
    reason: Reason = None,
    server: Server = None,
) -> None:
    """Store an earlier version's document as the newest one."""
    with connect(server, reason) as client:
        headers = precondition(client, flow, if_version)
        path = f"{path_of(FLOWS, flow)}/versions/{version}/rollback"
        answer = client.post(path, headers=headers)
    applied = answer.read(AppliedFlowView)
    what = f"version {applied.flow.version}" if applied.changed else "unchanged"
    show_done(flow, f"{flow}: {what}")


def delete(
    flow: FlowId,
    if_version: IfVersion = None,
    *,
    yes: Yes = False,
    reason: Reason = None,
    server: Server = None,
) -> None:
    """Delete a flow: nothing starts it any more, what runs goes on, its versions stay."""
    with connect(server, reason) as client:
        headers = precondition(client, flow, if_version)
        if not yes:
            confirm(f"Delete the flow {flow}?")
        client.delete(path_of(FLOWS, flow), headers=headers)
    show_done(flow, f"{flow}: deleted")


def add_stored(commands: typer.Typer) -> None:
    """Add these commands to `tidegate flow`."""
    for command in (apply, get, history, diff, rollback, delete):
        commands.command()(command)
    commands.command("list")(list_all)
