"""Commands that run a process for long have a tree of their own, and no other words."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from supervisor.cli import commands, main, processes

NAMES = [each.__name__ for each in processes.PROCESSES]
WATCH = """
import sys
from supervisor.cli.main import run
code = run(sys.argv[1:])
print("commands" if "supervisor.cli.commands" in sys.modules else "processes")
sys.exit(code)
"""


def _loaded(*arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-c", WATCH, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return ended.returncode, ended.stdout.splitlines()[-1]


def test_the_entry_point_knows_them_without_loading_them() -> None:
    assert sorted(NAMES) == sorted(main._PROCESSES)


@pytest.mark.parametrize("name", NAMES)
def test_both_trees_say_the_same_of_each(name: str) -> None:
    answers = [
        CliRunner().invoke(tree.app, [name, *rest], prog_name="tidegate")
        for rest in (["--help"], ["--prot", "1"])
        for tree in (commands, processes)
    ]

    help_of_all, help_of_few, wrong_of_all, wrong_of_few = (
        (each.exit_code, each.output) for each in answers
    )
    assert help_of_all == help_of_few
    assert wrong_of_all == wrong_of_few
    assert (help_of_all[0], wrong_of_all[0]) == (0, 2)


def test_a_process_does_not_load_what_other_commands_need() -> None:
    assert _loaded("executor", "--help") == (0, "processes")
    assert _loaded("whoami", "--help") == (0, "commands")
    assert _loaded("--profile", "none", "executor", "--help") == (0, "commands")
