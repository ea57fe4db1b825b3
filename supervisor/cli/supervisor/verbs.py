"""`tidegate supervisor suspend | resume | terminate`: verbs for one supervisor or many."""

from collections.abc import Callable
from dataclasses import dataclass

from supervisor.cli.shell.client import SUPERVISORS, Client, path_of
from supervisor.cli.shell.confirm import confirm
from supervisor.cli.shell.dry_runs import DryRun, Expect, VerbQuery, preview_text
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.many import each, show_each, wait_for_each
from supervisor.cli.shell.options import Output, Reason, Server, Wait, Yes, connect
from supervisor.cli.shell.output import print_notice
from supervisor.cli.shell.selection import All, Ids, InState, OfDataSource, Selection
from supervisor.cli.shell.wait import (
    wait_until_applied,
    wait_until_stopped,
    wait_until_terminated,
)

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
    how.query.check(alone=chosen.alone)
    asks = verb.needs_confirmation and not how.yes and how.query.asks
    with connect(server, how.reason) as client:
        ids = chosen.choose(client)
        if not announced(verb.name, ids, chosen, needs_confirmation=asks):
            return
        operations: dict[str, str | None] = {}

        def act(supervisor_id: str) -> tuple[object, str]:
            path = path_of(SUPERVISORS, supervisor_id, verb.name)
            answer = how.query.send(client, lambda params: client.post(path, params=params))
            if how.query.dry_run:
                return answer.json(), preview_text(answer)
            operations[supervisor_id] = answer.operation
            return answer.json(), f"{supervisor_id} {verb.done_text}"

        def awaited(supervisor_id: str, seconds: float) -> None:
            verb.wait(client, supervisor_id, operations[supervisor_id], seconds)

        tried = each(ids, act, alone=chosen.alone)
        wait = None if how.query.dry_run else how.wait
        tried = wait_for_each(tried, awaited, wait, alone=chosen.alone)
    show_each(tried, output, alone=chosen.alone)


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
