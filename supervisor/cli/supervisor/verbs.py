"""`tidegate supervisor suspend | resume | terminate`: verbs for one supervisor or many."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from supervisor.cli.shell.client import SUPERVISORS, ApiReply, Client, path_of
from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.dry_runs import DryRun, Expect, VerbQuery, preview_lines, preview_text
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.many import Tried, each, show_each, wait_for_each
from supervisor.cli.shell.options import Output, Reason, Server, Wait, Yes, connect
from supervisor.cli.shell.output import print_notice
from supervisor.cli.shell.problems import CommandFailed
from supervisor.cli.shell.selection import All, Ids, InState, OfDataSource, Selection
from supervisor.cli.shell.wait import (
    wait_until_applied,
    wait_until_stopped,
    wait_until_terminated,
)
from supervisor.core.attention.foreseen.bulk import every_digest
from supervisor.views.attention.foreseen import VerbPreview

_SHOWN_MAX = 20


@dataclass(frozen=True)
class _Verb:
    name: str
    done_text: str
    wait: Callable[[Client, str, str | None, float], None]
    needs_confirmation: bool = False


_SUSPEND = _Verb("suspend", "is suspended", wait_until_stopped)
_RESUME = _Verb("resume", "runs", wait_until_applied)
_TERMINATE = _Verb(
    "terminate", "is terminated; its table stays", wait_until_terminated, needs_confirmation=True
)


def suspend(
    supervisor_ids: Ids = None,
    *,
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
    """Suspend supervisors: their groups hand off and publish, and nothing new starts.

    Example: tidegate supervisor suspend clicks --wait 60
    """
    chosen = Selection(supervisor_ids or (), all_, data_source, state)
    how = _How(VerbQuery(dry_run, expect), wait, reason)
    _carry_out(_SUSPEND, chosen, how, server, output)


def resume(
    supervisor_ids: Ids = None,
    *,
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
    """Resume suspended supervisors where they stopped.

    Example: tidegate supervisor resume --state SUSPENDED
    """
    chosen = Selection(supervisor_ids or (), all_, data_source, state)
    how = _How(VerbQuery(dry_run, expect), wait, reason)
    _carry_out(_RESUME, chosen, how, server, output)


def terminate(
    supervisor_ids: Ids = None,
    *,
    all_: All = False,
    data_source: OfDataSource = None,
    state: InState = None,
    yes: Yes = False,
    wait: Wait = None,
    dry_run: DryRun = False,
    expect: Expect = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """End supervisors: what they have read is published, and their tables stay.

    Example: tidegate supervisor terminate --data-source 'test_*'
    """
    chosen = Selection(supervisor_ids or (), all_, data_source, state)
    how = _How(VerbQuery(dry_run, expect), wait, reason, yes=yes)
    _carry_out(_TERMINATE, chosen, how, server, output)


@dataclass(frozen=True)
class _How:
    """The options of a verb."""

    query: VerbQuery
    wait: float | None
    reason: str | None
    yes: bool = False


def _carry_out(
    verb: _Verb, chosen: Selection, how: _How, server: str | None, output: Format
) -> None:
    chosen.check()
    asks = verb.needs_confirmation and not how.yes and how.query.asks
    with connect(server, how.reason) as client:
        ids = chosen.choose(client)
        if not announced(verb.name, ids, chosen, needs_confirmation=asks):
            return
        acting = _Acting(client, verb, how.query)
        tried = _tried(acting, ids, alone=chosen.alone)
        wait = None if how.query.dry_run else how.wait
        tried = wait_for_each(tried, acting.wait, wait, alone=chosen.alone)
    show_each(tried, output, alone=chosen.alone)


def _tried(acting: "_Acting", ids: list[str], *, alone: bool) -> list[Tried]:
    """Act on each, or show it; with a digest on just those that its preview has shown."""
    query = acting.query
    if alone or query.asks:
        return each(ids, acting.act, alone=alone)
    seen = each(ids, acting.look, alone=False)
    if query.dry_run:
        print_notice(f"--expect {acting.digest} with the same supervisors does all of this")
        return seen
    if query.expect != acting.digest:
        raise CommandFailed(
            "what this would do is no longer what its preview has shown: nothing is done",
            "--dry-run shows what it would do now, with the new digest.",
        )
    left_out = [one for one in seen if one.error is not None]
    return [*each(list(acting.digests), acting.act, alone=False), *left_out]


@dataclass(frozen=True)
class _Acting:
    """A verb on one supervisor after the other."""

    client: Client
    verb: _Verb
    query: VerbQuery
    digests: dict[str, str] = field(default_factory=dict)
    """Supervisor -> the digest of its preview, of those that were looked at."""
    operations: dict[str, str | None] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """That of all previews together; the overlord's bulk verbs have the same."""
        return every_digest(self.verb.name, self.digests.items())

    def look(self, supervisor_id: str) -> tuple[object, str]:
        """Ask what it would do."""
        answer = self._send(supervisor_id, VerbQuery(dry_run=True))
        preview = answer.read(VerbPreview)
        self.digests[supervisor_id] = preview.digest
        return answer.json(), preview_lines(preview)

    def act(self, supervisor_id: str) -> tuple[object, str]:
        """Do it; or show it, if it is a dry run."""
        expect = self.digests.get(supervisor_id, self.query.expect)
        answer = self._send(supervisor_id, replace(self.query, expect=expect))
        if self.query.dry_run:
            return answer.json(), preview_text(answer)
        self.operations[supervisor_id] = answer.operation
        return answer.json(), f"{supervisor_id} {self.verb.done_text}"

    def wait(self, supervisor_id: str, seconds: float) -> None:
        """Wait until it is done."""
        self.verb.wait(self.client, supervisor_id, self.operations[supervisor_id], seconds)

    def _send(self, supervisor_id: str, query: VerbQuery) -> ApiReply:
        path = path_of(SUPERVISORS, supervisor_id, self.verb.name)
        return query.send(self.client, lambda params: self.client.post(path, params=params))


def announced(verb: str, ids: list[str], chosen: Selection, *, needs_confirmation: bool) -> bool:
    """Print the selected ids, and ask if `needs_confirmation`; False: nothing is selected."""
    more = len(ids) - _SHOWN_MAX
    named = ", ".join(ids[:_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")
    if not ids:
        return False
    if needs_confirmation:
        what = named if len(ids) == 1 else f"{len(ids)} supervisors: {named}"
        confirm(f"{verb.capitalize()} {what}?")
    elif chosen.filtered:
        print_notice(f"{verb}: {named}")
    return True
