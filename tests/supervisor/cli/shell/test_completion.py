"""Completion, as a shell asks for it, and help, as a person does."""

import os
import subprocess
import sys

import pytest
import typer
from typer.core import TyperGroup

from scripts.reference import commands
from supervisor.cli.commands import app
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

BASE = "/druid/indexer/v1/supervisor"
WORDS = "import sys; from supervisor.cli.main import main; sys.argv = ['tidegate']; main()"


def completed(url: str, line: str) -> list[str]:
    """What bash would offer for the last word of a line."""
    words = line.split(" ")
    variables = {
        "_TIDEGATE_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "TIDEGATE_OVERLORDS": url,
    }
    done = subprocess.run(
        [sys.executable, "-c", WORDS],
        env=dict(os.environ) | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout.split()


def test_ids_are_completed_from_the_overlord(server: Overlord) -> None:
    server.on("GET", BASE, Reply(["clicks", "clocks", "views"]))

    assert completed(server.url, "tidegate supervisor status cl") == ["clicks", "clocks"]
    assert completed(server.url, "tidegate supervisor suspend clicks cl") == ["clocks"]
    assert completed(server.url, "tidegate supervisor get v") == ["views"]


def test_without_an_overlord_nothing_is_offered() -> None:
    assert completed("http://127.0.0.1:1", "tidegate supervisor status cl") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_script(tidegate: Tidegate, shell: str) -> None:
    ended = tidegate("completion", shell)

    assert (ended.code, "_TIDEGATE_COMPLETE" in ended.out) == (0, True)


def test_every_command_stands_under_a_heading() -> None:
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    for group in (root, root.commands["supervisor"]):
        context = group.make_context("tidegate", ["--help"], resilient_parsing=True)
        text = group.get_help(context)

        assert "More:" not in text
        for name in getattr(group, "commands"):  # noqa: B009 -- both are groups
            assert f"\n  {name} " in text


def test_verbs_of_supervisors_have_an_example() -> None:
    for name, found in commands():
        if name.startswith("tidegate supervisor "):
            assert f"{name}" in (found.help or ""), name
