"""Selection of supervisors for a verb: by ids, or all that match."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated

import typer

from supervisor.cli.shell.client import SUPERVISORS, Client
from supervisor.cli.shell.completion import complete_ids
from supervisor.cli.shell.output import print_notice
from supervisor.views.supervisors.specs import SupervisorLine

Ids = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ID",
        help="Ids of supervisors.",
        show_default="none: say --all, --data-source or --state",
        autocompletion=complete_ids,
    ),
]
All = Annotated[bool, typer.Option("--all", help="All supervisors.")]
OfDataSource = Annotated[
    str | None,
    typer.Option(
        "--data-source",
        metavar="PATTERN",
        show_default="of any table",
        help="Those that fill this table; * matches any letters, ? any one.",
    ),
]
InState = Annotated[
    str | None,
    typer.Option(
        "--state",
        metavar="STATE",
        show_default="in any state",
        help="Those in this state, or detailed state, such as RUNNING.",
    ),
]


@dataclass(frozen=True)
class Selection:
    """The supervisors that a command line selects."""

    ids: Sequence[str]
    all_: bool = False
    data_source: str | None = None
    state: str | None = None

    @property
    def alone(self) -> bool:
        """Whether exactly one supervisor is named by its id."""
        return len(self.ids) == 1 and not self.filtered

    @property
    def filtered(self) -> bool:
        """Whether the ids have to be requested from the overlord."""
        return self.all_ or self.data_source is not None or self.state is not None

    def check(self) -> None:
        """Refuse an empty or contradictory selection.

        Raises:
            typer.BadParameter: nothing is named, or --all is given beside ids.
        """
        if not self.ids and not self.filtered:
            raise typer.BadParameter(
                "name supervisors, or say --all, --data-source or --state", param_hint="ID"
            )
        if self.ids and self.all_:
            raise typer.BadParameter("it does not go with ids", param_hint="--all")

    def choose(self, client: Client) -> list[str]:
        """Return the ids, each once, in the given order, or sorted if the overlord lists them."""
        if not self.filtered:
            return list(dict.fromkeys(self.ids))
        rows = client.get(SUPERVISORS, {"state": "true"}).read(list[SupervisorLine])
        matching_ids = sorted(row.id for row in rows if self._fits(row))
        if not matching_ids:
            print_notice("No supervisor fits.")
        return matching_ids

    def _fits(self, row: SupervisorLine) -> bool:
        if self.ids and row.id not in self.ids:
            return False
        if self.data_source is not None and not fnmatchcase(
            row.data_source or "", self.data_source
        ):
            return False
        states = {row.state.upper(), row.detailed_state.upper()}
        return self.state is None or self.state.upper() in states
