"""Resources of the API as rows of a table: how each is listed, and simple verbs of one.

A resource names its path, the model of its rows and its columns.  Forms (`-o`), the empty list and
JSON are written here once; a verb with a logic of its own is a module.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

import typer
from pydantic import BaseModel

from supervisor.cli.shell.client import ApiReply, Params, path_of
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Server, connect
from supervisor.cli.shell.output import print_notice, show_done, show_json, show_table

Row = TypeVar("Row", bound=BaseModel)


@dataclass(frozen=True)
class Resource(Generic[Row]):
    """One kind of thing that an overlord lists."""

    path: str
    rows: type[list[Row]]
    columns: tuple[str, ...]
    """Headings; `names.py` says which of them `-o name` prints."""
    cells: Callable[[Row, datetime], tuple[object, ...]]
    """A row, and the present for its ages -> a cell per column, those of `wide` last."""
    wide: tuple[str, ...] = ()
    nothing: str = ""
    """What to say of an empty list."""
    params: Params | None = None

    def show(self, answer: ApiReply, output: Format) -> None:
        """Print an answer of this resource's path in the form that was asked for."""
        if output is Format.JSON:
            show_json(answer.json())
            return
        rows: list[Row] = answer.read(self.rows)
        now = datetime.now(UTC)
        if not rows and self.nothing:
            print_notice(self.nothing)
        show_table(self.columns, (self.cells(row, now) for row in rows), wide=self.wide)


@dataclass(frozen=True)
class Verb:
    """A verb of one thing: a POST without a body."""

    name: str
    path: str
    """Of the kind of thing; its id and `route` follow."""
    route: str
    takes: object
    """The annotation of the argument that is the id."""
    done: str
    """What it is afterwards, behind its id."""


def add_list(commands: typer.Typer, resource: Resource[Row], text: str) -> None:
    """Add `list`, which has no options of its own; `text` is its help."""

    def list_all(server: Server = None, output: Output = Format.TABLE) -> None:
        with connect(server) as client:
            answer = client.get(resource.path, resource.params)
        resource.show(answer, output)

    commands.command("list", help=text)(list_all)


def add_verb(commands: typer.Typer, verb: Verb, text: str) -> None:
    """Add a verb of one thing that takes its id and nothing else; `text` is its help."""

    def act(name: str, server: Server = None, output: Output = Format.TABLE) -> None:
        with connect(server) as client:
            answer = client.post(path_of(verb.path, name, verb.route))
        if output is Format.JSON:
            show_json(answer.json())
        else:
            show_done(name, f"{name} {verb.done}")

    act.__annotations__["name"] = verb.takes
    commands.command(verb.name, help=text)(act)
