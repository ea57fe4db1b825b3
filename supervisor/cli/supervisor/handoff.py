"""`tidegate supervisor handoff`: hand task groups off and publish before taskDuration is over."""

import json
from dataclasses import dataclass
from typing import Annotated

import typer

from supervisor.cli.shell.client import SUPERVISORS, Client, path_of
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.many import each, show_each, wait_for_each
from supervisor.cli.shell.options import Output, Server, Wait, connect
from supervisor.cli.shell.selection import All, Ids, InState, OfDataSource, Selection
from supervisor.cli.shell.wait import wait_until_done, wait_until_handed_off
from supervisor.cli.supervisor.verbs import announced
from supervisor.views.status import SupervisorStatus


@dataclass(frozen=True)
class _Meant:
    """The groups that hand off."""

    groups: list[int]
    generations: set[str]
    """Ids of the generations that are to publish."""
    operation: str | None = None
    """None: no group reads, or the overlord is of an older release."""

    def wait(self, client: Client, supervisor_id: str, seconds: float) -> None:
        if self.operation is None:
            wait_until_handed_off(client, supervisor_id, self.generations, seconds)
        else:
            wait_until_done(client, self.operation, seconds)


def handoff(
    supervisor_ids: Ids = None,
    *,
    group: Annotated[
        list[int] | None,
        typer.Option(
            "--group",
            "-g",
            metavar="N",
            min=0,
            help="Number of a task group, as `supervisor status` shows it. May be repeated.",
            show_default="all groups that read",
        ),
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
        if not announced("hand off", ids, chosen, needs_confirmation=False):
            return
        meant: dict[str, _Meant] = {}

        def act(supervisor_id: str) -> tuple[object, str]:
            meant[supervisor_id] = _ask(client, supervisor_id, group)
            groups = meant[supervisor_id].groups
            verb = "have published" if wait is not None else "will publish"
            named = ", ".join(map(str, groups))
            message = f"{supervisor_id}: groups {named} {verb} what they have read"
            nothing = f"{supervisor_id} has no group that reads"
            return {"id": supervisor_id, "taskGroupIds": groups}, message if groups else nothing

        def awaited(supervisor_id: str, seconds: float) -> None:
            meant[supervisor_id].wait(client, supervisor_id, seconds)

        tried = each(ids, act, alone=chosen.alone)
        tried = wait_for_each(tried, awaited, wait, alone=chosen.alone)
    show_each(tried, output, alone=chosen.alone)


def _ask(client: Client, supervisor_id: str, group: list[int] | None) -> _Meant:
    status = client.get(path_of(SUPERVISORS, supervisor_id, "status")).read(SupervisorStatus)
    live = status.payload.groups
    groups = sorted(set(group or [one.group for one in live]))
    operation = None
    if groups:
        path = path_of(SUPERVISORS, supervisor_id, "taskGroups", "handoff")
        body = json.dumps({"taskGroupIds": groups}).encode()
        operation = client.post(path, body).operation
    return _Meant(groups, {one.generation_id for one in live if one.group in groups}, operation)
