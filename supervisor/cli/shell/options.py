"""Options that many commands share."""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import typer

from supervisor.cli.shell.client import Client
from supervisor.cli.shell.completion import complete_ids
from supervisor.cli.shell.form import Format, keep_form
from supervisor.cli.shell.output import print_notice
from supervisor.cli.shell.profiles import (
    FLAG,
    OVERLORDS,
    overlords_in_force,
    profile_name,
    settings_for,
)
from supervisor.core.values.errors import InvalidRequest
from supervisor.core.values.reasons import checked_reason

_OLD_NAMES: Mapping[str, str] = MappingProxyType(
    {"datasource": "data-source", "max": "limit", "count": "limit", "rows": "limit"}
)
"""Old name of a long option, which scripts may still use -> its present name."""


def present_name(token: str) -> str:
    """Return the present name of an option, without dashes; help shows only present names."""
    return _OLD_NAMES.get(token, token)


def checked_address(text: str | None) -> str | None:
    """Return an address that was given, with its scheme; None: none was."""
    if text is None:
        return None
    url = text if "://" in text else f"http://{text}"
    if not re.fullmatch(r"https?://[^\s/?#]+/?", url):
        raise typer.BadParameter(f"{text!r} is not an address such as http://127.0.0.1:8090")
    return url


def _reason(text: str | None) -> str | None:
    try:
        return checked_reason(text)
    except InvalidRequest as refused:
        [wrong] = refused.errors
        raise typer.BadParameter(f"it {wrong.message}: {wrong.hint}") from None


Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        "-s",
        metavar="URL",
        callback=checked_address,
        show_default="TIDEGATE_OVERLORDS, or the profile's, or http://127.0.0.1:8090",
        help="The overlord to talk to.",
    ),
]
Output = Annotated[
    Format,
    typer.Option(
        "--output",
        "-o",
        callback=keep_form,
        help="How to print the answer on stdout; name: ids alone, one a line.",
    ),
]
Wait = Annotated[
    float | None,
    typer.Option(
        "--wait",
        metavar="SECONDS",
        min=0.0,
        show_default="returns at once",
        help="Wait until it is done, at most so long; exit code 4 if it is not.",
    ),
]
Limit = Annotated[
    int, typer.Option("--limit", "-n", metavar="N", min=1, max=1_000, help="At most so many.")
]
Reason = Annotated[
    str | None,
    typer.Option(
        "--reason",
        metavar="TEXT",
        callback=_reason,
        show_default="none",
        help="Why, in one line: kept in audit log, history and events.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before it is done.")]
WarehouseHere = Annotated[
    Path | None,
    typer.Option(
        "--warehouse",
        metavar="FOLDER",
        help="Where the warehouse is mounted here.",
        show_default="the folder that the overlord names",
    ),
]
SupervisorId = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="Id of the supervisor.",
        show_default=False,
        autocompletion=complete_ids,
    ),
]
TaskId = Annotated[str, typer.Argument(metavar="ID", help="Id of the task.", show_default=False)]


def connect(server: str | None, reason: str | None = None) -> Client:
    """Return a client for `server`, or for the overlords of environment, profile or settings.

    A profile's token is sent to the profile's overlords only.  `reason` goes with each change.
    """
    chosen, named = overlords_in_force(server), profile_name()
    if chosen[0].source == OVERLORDS and named is not None and named.source == FLAG:
        print_notice(f"note: {OVERLORDS} counts before {FLAG}: this asks {chosen[0].value}")
    settings = settings_for(chosen)
    return Client(
        [each.value for each in chosen], settings.authorization(), settings.trust(), reason
    )
