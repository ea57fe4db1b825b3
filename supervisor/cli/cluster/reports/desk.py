"""How `tidegate reports dead` reaches dead letters: at a persister, or through the overlord."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated

import typer

from supervisor.cli.cluster.reports.connection import asking
from supervisor.cli.shell.client import ApiReply, Client, path_of
from supervisor.cli.shell.options import checked_address, connect
from supervisor.settings.settings import load_settings
from supervisor.views.reports import LetterPageView, LetterView

__all__ = ["Desk", "DeskUrl", "desk"]

DeskUrl = Annotated[
    str | None,
    typer.Option(
        "--persister",
        metavar="URL",
        callback=checked_address,
        show_default="TIDEGATE_REPORTS_PERSISTER, or the overlord's",
        help="The persister to talk to, without an overlord.",
    ),
]
_PAGE_MAX = 100


@dataclass
class Desk:
    """Dead letters, behind the routes of a persister or of an overlord."""

    client: Client
    through: bool
    """Whether an overlord passes calls on: it knows by itself who calls."""
    _of: dict[str, str] = field(default_factory=dict)
    """The persister that has answered a list: the letters of the list are its own."""

    def pages(self, about: str | None, limit: int | None, *, handled: bool) -> list[LetterView]:
        """Return letters over as many pages as it takes; `limit` None: all."""
        letters: list[LetterView] = []
        params: dict[str, str | int] = {"handled": str(handled).lower()}
        if about is not None:
            params["about" if self.through else "reason"] = about
        while limit is None or len(letters) < limit:
            left = _PAGE_MAX if limit is None else min(limit - len(letters), _PAGE_MAX)
            answer = self.client.get(self._path(), params | self._of | {"limit": left})
            page = answer.read(LetterPageView)
            if page.persister:
                self._of = {"persister": page.persister}
            letters += page.letters
            if page.next is None:
                break
            params["after"] = page.next
        return letters

    def get(self, partition: int, offset: int) -> ApiReply:
        """Return one letter."""
        return self.client.get(self._path(partition, offset), dict(self._of))

    def replay(self, partition: int, offset: int, by: str) -> ApiReply:
        """Store one letter."""
        path = f"{self._path(partition, offset)}/replay"
        return self.client.post(path, params=self._who(by))

    def drop(self, partition: int, offset: int, by: str) -> ApiReply:
        """Drop one letter."""
        return self.client.delete(self._path(partition, offset), self._who(by))

    def _who(self, by: str) -> dict[str, str | int]:
        return dict(self._of) if self.through else {"by": by}

    def _path(self, *place: int) -> str:
        letters = "/api/v1/dead-letters" if self.through else "/dead-letters"
        return path_of(letters, *map(str, place)) if place else letters


@contextmanager
def desk(persister: str | None, server: str | None, reason: str | None = None) -> Iterator[Desk]:
    """Open the desk of a persister that is named; of none is named, through the overlord.

    Raises:
        Unreachable: the persister or the overlord does not answer.
    """
    named = (persister,) if persister is not None else load_settings().reports_persister
    if named and server is None:
        with asking(named[0], reason) as client:
            yield Desk(client, through=False)
        return
    with connect(server, reason) as client:
        yield Desk(client, through=True)
