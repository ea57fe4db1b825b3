"""The terminal session of the tutorial is what the commands print.

Slow: an overlord starts, for the commands of the tutorial, which run in this process.
"""

from tests.supervisor.cli.shell.session import BEGIN, END, PAGE, rewritten, session
from tests.tidy.sources import ROOT


def test_the_session_of_the_tutorial_is_what_the_commands_print() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")

    assert rewritten(page, session()) == page, "run: python -m tests.supervisor.cli.shell.session"


def test_a_stale_session_is_caught() -> None:
    page = f"before\n{BEGIN}old\n{END}after\n"

    assert rewritten(page, "new\n") == f"before\n{BEGIN}new\n{END}after\n"
