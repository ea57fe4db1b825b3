"""How the command finds persisters: by an option, by the environment, or beside it."""

import getpass
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer

from supervisor.cli.shell.client import Client
from supervisor.cli.shell.options import checked_address
from supervisor.cli.shell.problems import Unreachable
from supervisor.settings.settings import PERSISTER_PORT, load_settings

__all__ = ["By", "PersisterUrl", "asking", "caller_name", "persisters"]

_HERE = f"http://127.0.0.1:{PERSISTER_PORT}"

PersisterUrl = Annotated[
    str | None,
    typer.Option(
        "--persister",
        metavar="URL",
        callback=checked_address,
        show_default=f"TIDEGATE_REPORTS_PERSISTER, or {_HERE}",
        help="The persister to talk to.",
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        "--by", metavar="NAME", show_default="your name here", help="Who does it, for the record."
    ),
]


def persisters(given: str | None) -> Sequence[str]:
    """Return the URLs of the persisters, one at least."""
    return (given,) if given is not None else load_settings().reports_persister or (_HERE,)


@contextmanager
def asking(url: str, reason: str | None = None) -> Iterator[Client]:
    """Open a client of one persister.

    Raises:
        Unreachable: it does not answer; it says how one is started.
    """
    settings = load_settings()
    with Client([url], settings.authorization(), settings.trust(), reason) as client:
        try:
            yield client
        except Unreachable as error:
            raise Unreachable(
                f"no persister answers at {url}. Start one (`tidegate persister`), or name one "
                f"with --persister or TIDEGATE_REPORTS_PERSISTER. It was: {error}"
            ) from error


def caller_name(given: str | None) -> str:
    """Return who does it: the name that is given, or the user's on this machine."""
    if given is not None:
        return given
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "an operator"
