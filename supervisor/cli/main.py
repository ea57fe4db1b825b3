"""Entry point of the command `tidegate`: which tree of commands it needs, and error handling.

An error becomes one line and an exit code (`shell/problems.py`), also an unexpected error.
TIDEGATE_DEBUG=1 shows the traceback.
"""

import contextvars
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache

import typer.main

from supervisor.cli.shell.output import print_notice, show_error
from supervisor.cli.shell.problems import FAILED, exit_code
from supervisor.core.values.errors import SupervisorError
from tasks.runtime.secrets import without_secrets

__all__ = ["main", "run"]

_INTERRUPTED = 130
_PROCESSES = frozenset({"overlord", "executor", "persister", "dev"})
"""Commands of `processes.py`, which is not loaded to look."""


def run(arguments: Sequence[str]) -> int:
    """Carry out one command line and return its exit code."""
    # In a context of its own, so that its form and profile end with it.
    context = contextvars.copy_context()
    tree = _processes if arguments and arguments[0] in _PROCESSES else _commands
    return context.run(_guarded, lambda: tree()(list(arguments), prog_name="tidegate"))


@cache
def _commands() -> Callable[..., object]:
    """Return the tree of all commands, which is built from their functions once."""
    from supervisor.cli.commands import app

    return typer.main.get_command(app)


@cache
def _processes() -> Callable[..., object]:
    """Return the tree of the commands that run a process for long."""
    from supervisor.cli.processes import app

    return typer.main.get_command(app)


def _guarded(command: Callable[[], object]) -> int:
    try:
        command()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except SupervisorError as error:
        if _debug():
            raise
        show_error(error)
        return exit_code(error)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe; the interpreter must not flush stdout again at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        if _debug():
            raise
        what = without_secrets(str(error)).partition("\n")[0][:500]
        print_notice(f"error: {type(error).__name__}: {what}")
        print_notice("This was not foreseen. TIDEGATE_DEBUG=1 shows where it happened.")
        return FAILED
    return 0


def _debug() -> bool:
    return os.environ.get("TIDEGATE_DEBUG", "") not in {"", "0"}


def main() -> None:
    """Run the command line of this process, and exit with its code."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
