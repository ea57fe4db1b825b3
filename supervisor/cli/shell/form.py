"""In which form the answer of a command is printed: what `-o` takes.

A command knows two kinds of answers, a table (or text) and data; `output.py` prints both in the
form that was asked for.  So each command has every form, and none of them knows all five; what the
form `name` prints of each is in `names.py`.
"""

from contextvars import ContextVar
from enum import StrEnum

import typer

from supervisor.cli.shell.names import NAMES, Nameless, Naming
from supervisor.cli.shell.profiles import profile_in_force


class Format(StrEnum):
    """What `-o` takes; a command is given TABLE or JSON."""

    TABLE = "table"
    WIDE = "wide"
    """A table with more columns."""
    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    """Ids alone, one a line: what the next command takes."""


_chosen: ContextVar[Format] = ContextVar("form", default=Format.TABLE)
_naming: ContextVar[Naming | None] = ContextVar("naming", default=None)
_KINDS = {Format.WIDE: Format.TABLE, Format.NAME: Format.TABLE, Format.YAML: Format.JSON}


def form() -> Format:
    """Return the form of this command's answer."""
    return _chosen.get()


def naming() -> Naming | None:
    """Return what this command prints if ids are asked for; None: they are not."""
    return _naming.get() if form() is Format.NAME else None


def keep_form(
    context: typer.Context, option: typer.CallbackParam, form: Format | None
) -> Format | None:
    """Note the form that was asked for, or the profile's, and return its kind.

    Raises:
        typer.BadParameter: ids are asked for, and this command has none.
    """
    if form is None:
        return None
    source = context.get_parameter_source(option.name or "")
    given = source is not None and source.name != "DEFAULT"
    if not given and form is Format.TABLE and not context.resilient_parsing:
        form = Format(profile_in_force().output or form)
    if form is Format.NAME and not context.resilient_parsing:
        command_naming = NAMES[context.command_path.partition(" ")[2]]
        _naming.set(command_naming)
        if isinstance(command_naming, Nameless):
            if given:
                raise typer.BadParameter(f"name: nothing here has an id; {command_naming.instead}")
            form = Format.TABLE  # a profile asks for ids where there are some
    _chosen.set(form)
    return _KINDS.get(form, form)
