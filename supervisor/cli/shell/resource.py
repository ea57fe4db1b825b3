"""Generic commands for resources of the API: list them, and simple verbs on one of them.

A resource declares its path, the model of its rows and its columns.  Output forms (`-o`), the empty
list and JSON are handled here once.  A verb with its own logic is a module.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

import typer
from pydantic import BaseModel

from supervisor.cli.shell.client import ApiReply, Params, path_of
from supervisor.cli.shell.dry_runs import DryRun, Expect, VerbQuery, show_preview
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Reason, Server, connect
from supervisor.cli.shell.output import print_notice, show_done, show_json, show_table

Row = TypeVar("Row", bound=BaseModel)


@dataclass(frozen=True)
class Resource(Generic[Row]):
    """One kind of resource that an overlord lists."""

    path: str
    rows: type[list[Row]]
    columns: tuple[str, ...]
    """Headings; `names.py` selects the columns for `-o name`."""
    cells: Callable[[Row, datetime], tuple[object, ...]]
    """(row, present time) -> one cell per column, those of `wide` last."""
    wide: tuple[str, ...] = ()
    nothing: str = ""
    """The notice for an empty list."""
    params: Params | None = None
    part: str = ""
    """The member of an answer that is the list; empty: the whole answer is."""
    problem: Callable[[Row], str | None] | None = None
    """A row -> the notice about what is wrong with it, if anything is."""

    def show(self, answer: ApiReply, output: Format) -> None:
        """Print an answer of this resource's path in the chosen form."""
        if output is Format.JSON:
            show_json(answer.json())
            return
        self.show_rows((answer.part(self.part) if self.part else answer).read(self.rows))

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Print rows as a table, and notices below it."""
        now = datetime.now(UTC)
        show_table(self.columns, (self.cells(row, now) for row in rows), wide=self.wide)
        if not rows and self.nothing:
            print_notice(self.nothing)
        for row in rows:
            if self.problem is not None and (notice := self.problem(row)):
                print_notice(notice)


@dataclass(frozen=True)
class Verb:
    """A verb on one thing: a POST without a body."""

    name: str
    path: str
    """The path of the kind of thing, before its id and `route`."""
    route: str
    takes: object
    """The annotation of the argument with the id."""
    done: str
    """The notice about the result, after the id."""


def add_list(commands: typer.Typer, resource: Resource[Row], text: str) -> None:
    """Add a command `list` without options of its own; `text` is its help."""

    def list_all(server: Server = None, output: Output = Format.TABLE) -> None:
        with connect(server) as client:
            answer = client.get(resource.path, resource.params)
        resource.show(answer, output)

    commands.command("list", help=text)(list_all)


def add_verb(commands: typer.Typer, verb: Verb, text: str) -> None:
    """Add a verb that takes the id of one thing and nothing else; `text` is its help."""

    def act(
        name: str,
        *,
        dry_run: DryRun = False,
        expect: Expect = None,
        reason: Reason = None,
        server: Server = None,
        output: Output = Format.TABLE,
    ) -> None:
        query, path = VerbQuery(dry_run, expect), path_of(verb.path, name, verb.route)
        with connect(server, reason) as client:
            answer = query.send(client, lambda params: client.post(path, params=params))
        if dry_run:
            show_preview(answer, output)
        elif output is Format.JSON:
            show_json(answer.json())
        else:
            show_done(name, f"{name} {verb.done}")

    act.__annotations__["name"] = verb.takes
    commands.command(verb.name, help=text)(act)
