"""Asking before something is done that cannot be undone."""

import sys

import typer

from supervisor.cli.shell.output import print_notice
from supervisor.cli.shell.problems import USAGE


def confirm(question: str) -> None:
    """Ask, and end the command unless the answer is yes; without a terminal, refuse to guess."""
    if not sys.stdin.isatty():
        print_notice(f"error: nobody is there to ask: {question} Say --yes.")
        raise typer.Exit(USAGE)
    typer.confirm(question, abort=True, err=True)
