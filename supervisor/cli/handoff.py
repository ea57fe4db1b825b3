"""`tidegate supervisor handoff`: publish before taskDuration is over."""

import json
from typing import Annotated

import typer

from supervisor.cli.answers import Status
from supervisor.cli.client import SUPERVISORS, path_of
from supervisor.cli.options import Output, Server, SupervisorId, Wait, connect
from supervisor.cli.output import Format, show_json, show_text
from supervisor.cli.wait import wait_until_done, wait_until_handed_off


def handoff(
    supervisor_id: SupervisorId,
    group: Annotated[
        list[int] | None,
        typer.Option("--group", "-g", min=0, help="Task group; may be given again. [default: all]"),
    ] = None,
    wait: Wait = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Hand task groups off now: what they have read is published, and they read on."""
    with connect(server) as client:
        status = client.get(path_of(SUPERVISORS, supervisor_id, "status")).read(Status)
        live = status.payload.groups
        groups = sorted(set(group or [one.group for one in live]))
        operation = None
        if groups:
            path = path_of(SUPERVISORS, supervisor_id, "taskGroups", "handoff")
            body = json.dumps({"taskGroupIds": groups}).encode()
            operation = client.post(path, body).operation
        if wait is not None and operation is not None:
            wait_until_done(client, operation, wait)
        elif wait is not None:
            meant = {one.generation_id for one in live if one.group in groups}
            wait_until_handed_off(client, supervisor_id, meant, wait)
    if output is Format.JSON:
        show_json({"id": supervisor_id, "taskGroupIds": groups})
    elif groups:
        named = ", ".join(map(str, groups))
        told = "have published" if wait is not None else "will publish"
        show_text(f"{supervisor_id}: groups {named} {told} what they have read")
    else:
        show_text(f"{supervisor_id} has no group that reads")
