"""The output form of a command, chosen by `-o`.

A command has two kinds of answers, a table (or text) and data; `output.py` prints them in the
chosen form.  So every command supports all five forms.  `names.py` has the output of each command
in the form `name`.
"""

from contextvars import ContextVar
from enum import StrEnum

import typer

from supervisor.cli.shell.names import NAMES, Nameless, Naming
from supervisor.cli.shell.profiles import profile_in_force


class Format(StrEnum):
    """The value of `-o`; a command itself gets TABLE or JSON."""

    TABLE = "table"
    WIDE = "wide"
    """A table with additional columns."""
    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    """Ids only, one per line, as arguments of the next command."""


_chosen: ContextVar[Format] = ContextVar("form", default=Format.TABLE)
_naming: ContextVar[Naming | None] = ContextVar("naming", default=None)
_KINDS = {Format.WIDE: Format.TABLE, Format.NAME: Format.TABLE, Format.YAML: Format.JSON}


def form() -> Format:
    """Return the output form of this command line."""
    return _chosen.get()


def naming() -> Naming | None:
    """Return the rule for `-o name` of this command; None: the form is another one."""
    return _naming.get() if form() is Format.NAME else None


def keep_form(
    context: typer.Context, option: typer.CallbackParam, form: Format | None
) -> Format | None:
    """Store the form of the option or of the profile, and return its kind, TABLE or JSON.

    Raises:
        typer.BadParameter: the option is `name`, and this command has no ids.
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
            form = Format.TABLE  # a profile's `name` applies only to commands with ids
    _chosen.set(form)
    return _KINDS.get(form, form)
