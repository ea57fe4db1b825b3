"""The root of a tree of commands: its name, its help and its options."""

import importlib.metadata
from typing import Annotated

import typer

from supervisor.cli.shell.groups import TopLevel
from supervisor.cli.shell.options import present_name
from supervisor.cli.shell.output import show_text
from supervisor.cli.shell.profiles import use_profile

__all__ = ["new_root"]


def new_root() -> typer.Typer:
    """Return a tree without a command."""
    app = typer.Typer(
        name="tidegate",
        no_args_is_help=True,
        cls=TopLevel,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"token_normalize_func": present_name},
        help="Turn Kafka topics into Parquet tables, each record exactly once.",
    )
    app.callback()(_options)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        show_text(f"tidegate {importlib.metadata.version('tidegate')}")
        raise typer.Exit


def _options(
    version: Annotated[  # noqa: ARG001 -- its callback has used it
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            metavar="NAME",
            show_default="TIDEGATE_PROFILE, or the file's default, or none",
            help="Profile to use: see `tidegate config`.",
        ),
    ] = None,
) -> None:
    """Turn Kafka topics into Parquet tables, each record exactly once."""
    use_profile(profile)
