"""`tidegate supervisor handoff`: publish before taskDuration is over."""

import json
from typing import Annotated

import typer

from supervisor.cli.answers import Status
from supervisor.cli.client import SUPERVISORS, Client, path_of
from supervisor.cli.form import Format
from supervisor.cli.many import each, show_each, wait_for_each
from supervisor.cli.options import Output, Server, Wait, connect
from supervisor.cli.selection import All, Ids, InState, OfDataSource, Selection
from supervisor.cli.verbs import announced
from supervisor.cli.wait import wait_until_handed_off


def handoff(
    supervisor_ids: Ids = None,
    *,
    group: Annotated[
        list[int] | None,
        typer.Option("--group", "-g", min=0, help="Task group; may be given again. [default: all]"),
    ] = None,
    all_: All = False,
    data_source: OfDataSource = None,
    state: InState = None,
    wait: Wait = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Hand task groups off now: what they have read is published, and they read on.

    Example: tidegate supervisor handoff clicks --group 0 --wait 60
    """
    chosen = Selection(supervisor_ids or (), all_, data_source, state)
    chosen.check()
    with connect(server) as client:
        ids = chosen.choose(client)
        if not announced("hand off", ids, chosen, asks=False):
            return
        meant: dict[str, set[str]] = {}

        def act(supervisor_id: str) -> tuple[object, str]:
            groups, meant[supervisor_id] = _ask(client, supervisor_id, group)
            told = "have published" if wait is not None else "will publish"
            named = ", ".join(map(str, groups))
            said = f"{supervisor_id}: groups {named} {told} what they have read"
            nothing = f"{supervisor_id} has no group that reads"
            return {"id": supervisor_id, "taskGroupIds": groups}, said if groups else nothing

        def awaited(supervisor_id: str, seconds: float) -> None:
            wait_until_handed_off(client, supervisor_id, meant[supervisor_id], seconds)

        tried = each(ids, act, alone=chosen.alone)
        tried = wait_for_each(tried, awaited, wait, alone=chosen.alone)
    show_each(tried, output, alone=chosen.alone)


def _ask(client: Client, supervisor_id: str, group: list[int] | None) -> tuple[list[int], set[str]]:
    """Ask, and return the groups, and the generations that are to publish."""
    status = client.get(path_of(SUPERVISORS, supervisor_id, "status")).read(Status)
    live = status.payload.groups
    groups = sorted(set(group or [one.group for one in live]))
    if groups:
        path = path_of(SUPERVISORS, supervisor_id, "taskGroups", "handoff")
        client.post(path, json.dumps({"taskGroupIds": groups}).encode())
    return groups, {one.generation_id for one in live if one.group in groups}
