"""`tidegate overview`: what needs somebody, worst first, and how everything stands."""

from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum
from typing import Annotated

import typer

from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Limit, Output, Server, connect
from supervisor.cli.shell.output import ago, print_notice, short_duration, show_json, show_text
from supervisor.cli.shell.problems import FAILED
from supervisor.core.attention.items import Severity
from supervisor.core.values.counts import counted
from supervisor.views.attention.overview import (
    AttentionTotals,
    AttentionView,
    Overview,
    ReportsPart,
)
from supervisor.views.attention.remedies import RemedyView

_PATH = "/api/v1/overview"
_WORDS = {Severity.BROKEN: "broken", Severity.AT_RISK: "at risk", Severity.TO_KNOW: "to know"}


class FailOn(StrEnum):
    """The mildest severity that makes the command fail."""

    BROKEN = "broken"
    AT_RISK = "at-risk"


def overview(
    *,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            "--fail-on",
            help="Exit with status 1 if something is that bad, or worse.",
            show_default="status 0 whatever there is",
        ),
    ] = None,
    limit: Limit = 100,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Show what needs somebody, the worst first, with what may help; then how everything stands.

    It shows what you may read, as the leader saw it in its last passes, so it may be repeated.

    \b
    Examples:
      tidegate overview
      tidegate overview --fail-on broken
    """
    with connect(server) as client:
        answer = client.get(_PATH, {"limit": limit})
    shown = answer.read(Overview)
    if output is Format.JSON:
        show_json(answer.json())
    else:
        for item in shown.attention:
            _show_item(item)
        print_notice(_summary(shown))
    if fail_on is not None and _is_bad(shown.totals, fail_on):
        raise typer.Exit(FAILED)


def _is_bad(totals: AttentionTotals, fail_on: FailOn) -> bool:
    return bool(totals.broken or (fail_on is FailOn.AT_RISK and totals.at_risk))


def _show_item(item: AttentionView) -> None:
    since = "" if item.since is None else f" (since {item.since:%Y-%m-%d %H:%M:%S %Z})"
    word = _WORDS.get(item.severity, str(item.severity))
    show_text(f"{word.upper():<9}{item.text}{since}")
    for remedy in item.remedies:
        show_text(f"{'':<9}{_format_remedy(remedy)}")


def _format_remedy(remedy: RemedyView) -> str:
    if remedy.command is not None:
        return f"{remedy.label}: {remedy.command}"
    pointer = remedy.params.get("pointer")
    return remedy.label if pointer is None else f"{remedy.label}: {pointer} of its spec"


def _summary(shown: Overview) -> str:
    totals = shown.totals
    counts = {"broken": totals.broken, "at risk": totals.at_risk, "to know": totals.to_know}
    named = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    more = f" ({shown.more} of them not shown: --limit)" if shown.more else ""
    return ". ".join([(named or "Nothing needs anybody") + more, *_parts(shown)])


def _parts(shown: Overview) -> Iterator[str]:
    """Yield how things stand, each with its number; what is not known is left out."""
    if (supervisors := shown.supervisors) is not None:
        healthy = supervisors.total - supervisors.unhealthy
        yield f"{healthy} of {supervisors.total} supervisors are healthy"
    if shown.lag is not None and shown.lag.records is not None:
        oldest = shown.lag.oldest_millis
        age = "" if oldest is None else f", the oldest {short_duration(_millis(oldest))} old"
        at = shown.lag.looked_at
        looked = "" if at is None else f" as of {ago(at, shown.at)}"
        unread = counted(shown.lag.records, "record is", "records are")
        yield f"{unread} unread{looked}{age}"
    if (slots := shown.slots) is not None:
        yield f"{slots.needed} slots needed, {slots.free} of {slots.total} free"
    if (reports := shown.reports) is not None:
        yield f"stored reports are {_format_behind(reports)}"
    if (leader := shown.leader) is not None:
        yield f"{leader.url} leads in term {leader.term}"


def _format_behind(reports: ReportsPart) -> str:
    records, oldest = reports.behind_records, reports.behind_millis
    if records is None:
        return "not known to follow: no persister answers"
    if not records:
        return "up to date"
    age = "" if oldest is None else f", the oldest {short_duration(_millis(oldest))} old"
    return f"behind by {records} records{age}"


def _millis(count: int) -> timedelta:
    return timedelta(milliseconds=count)
