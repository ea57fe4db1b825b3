"""Confirmation of commands that cannot be undone."""

import sys

import typer

from supervisor.cli.shell.output import print_notice
from supervisor.cli.shell.problems import USAGE


def confirm(question: str) -> None:
    """Ask, and end the command unless the answer is yes, or if there is no terminal to ask on."""
    if not sys.stdin.isatty():
        print_notice(f"error: nobody is there to ask: {question} Say --yes.")
        raise typer.Exit(USAGE)
    typer.confirm(question, abort=True, err=True)
