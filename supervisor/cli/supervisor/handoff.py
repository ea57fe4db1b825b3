"""`tidegate supervisor handoff`: hand task groups off and publish before taskDuration is over."""

import json
from dataclasses import dataclass, field
from typing import Annotated

import typer

from supervisor.cli.shell.client import SUPERVISORS, ApiReply, Client, path_of
from supervisor.cli.shell.dry_runs import DryRun, Expect, VerbQuery, preview_text
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.many import each, show_each, wait_for_each
from supervisor.cli.shell.options import Output, Reason, Server, Wait, connect
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
    dry_run: DryRun = False,
    expect: Expect = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Hand task groups off now: what they have read is published, and they read on.

    Example: tidegate supervisor handoff clicks --group 0 --wait 60
    """
    chosen = Selection(supervisor_ids or (), all_, data_source, state)
    chosen.check()
    query = VerbQuery(dry_run, expect)
    query.check(alone=chosen.alone)
    with connect(server, reason) as client:
        ids = chosen.choose(client)
        if not announced("hand off", ids, chosen, needs_confirmation=False):
            return
        handing_off = _HandingOff(client, group, query, waits=wait is not None)
        tried = each(ids, handing_off.act, alone=chosen.alone)
        until = None if dry_run else wait
        tried = wait_for_each(tried, handing_off.wait, until, alone=chosen.alone)
    show_each(tried, output, alone=chosen.alone)


@dataclass(frozen=True)
class _HandingOff:
    """The handoff of one supervisor after the other."""

    client: Client
    group: list[int] | None
    query: VerbQuery
    waits: bool
    meant: dict[str, _Meant] = field(default_factory=dict)
    """Supervisor -> what was asked of it."""

    def act(self, supervisor_id: str) -> tuple[object, str]:
        """Ask for the handoff, or for what it would do."""
        self.meant[supervisor_id], answer = _ask(self.client, supervisor_id, self.group, self.query)
        groups = self.meant[supervisor_id].groups
        if self.query.dry_run and answer is not None:
            return answer.json(), preview_text(answer)
        verb = "have published" if self.waits else "will publish"
        named = ", ".join(map(str, groups))
        message = f"{supervisor_id}: groups {named} {verb} what they have read"
        nothing = f"{supervisor_id} has no group that reads"
        return {"id": supervisor_id, "taskGroupIds": groups}, message if groups else nothing

    def wait(self, supervisor_id: str, seconds: float) -> None:
        """Wait until it is done."""
        self.meant[supervisor_id].wait(self.client, supervisor_id, seconds)


def _ask(
    client: Client, supervisor_id: str, group: list[int] | None, query: VerbQuery
) -> tuple[_Meant, ApiReply | None]:
    """Return what is meant, and the answer; None: no group reads, and nothing was sent."""
    status = client.get(path_of(SUPERVISORS, supervisor_id, "status")).read(SupervisorStatus)
    live = status.payload.groups
    groups = sorted(set(group or [one.group for one in live]))
    answer = None
    if groups:
        path = path_of(SUPERVISORS, supervisor_id, "taskGroups", "handoff")
        body = json.dumps({"taskGroupIds": groups}).encode()
        answer = query.send(client, lambda params: client.post(path, body, params))
    generations = {one.generation_id for one in live if one.group in groups}
    return _Meant(groups, generations, None if answer is None else answer.operation), answer
