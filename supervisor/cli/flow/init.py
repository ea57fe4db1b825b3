"""`tidegate flow init`: samples of flows to begin with."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated

import typer

from supervisor.cli.shell.output import show_table, show_text
from supervisor.cli.shell.problems import CommandFailed
from supervisor.core.values.field_types import nearest

__all__ = ["add_init", "samples"]

_SUFFIX = ".yaml"


def samples() -> Mapping[str, str]:
    """Return name -> the flow as YAML; its first line is a comment that says what it does."""
    folder = files("supervisor.cli.flow") / "samples"
    return {
        each.name.removesuffix(_SUFFIX): each.read_text(encoding="utf-8")
        for each in sorted(folder.iterdir(), key=lambda file: file.name)
        if each.name.endswith(_SUFFIX)
    }


def init(
    sample: Annotated[
        str | None,
        typer.Argument(metavar="SAMPLE", help="Which one to print.", show_default="list them"),
    ] = None,
) -> None:
    """Print a sample of a flow, as YAML.

    Example: tidegate flow init nightly > orders-nightly.yaml
    """
    known = samples()
    if sample is None:
        show_table(("SAMPLE", "WHAT IT DOES"), ((name, _first(known[name])) for name in known))
        return
    if sample not in known:
        close = nearest(sample, known)
        hint = f"did you mean {close}?" if close else f"samples are {', '.join(known)}"
        raise CommandFailed(f"there is no sample {sample}", hint)
    show_text(known[sample].removesuffix("\n"))


def _first(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def add_init(commands: typer.Typer) -> None:
    """Add the command to `tidegate flow`."""
    commands.command()(init)
