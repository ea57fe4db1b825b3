"""A verb for several supervisors: each gets its try, and the exit code tells whether all went."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import typer

from supervisor.cli.shell.form import Format
from supervisor.cli.shell.output import print_notice, show_done, show_error, show_json
from supervisor.cli.shell.problems import FAILED, LATE, CommandFailed, DeadlinePassed, ProblemAnswer
from supervisor.cli.shell.wait import Deadline
from supervisor.core.values.errors import SupervisorError

ALREADY = "already-in-state"


@dataclass(frozen=True)
class Tried:
    """What became of one."""

    name: str
    answer: object
    error: SupervisorError | None = None
    message: str = ""


def each(
    names: Iterable[str], act: Callable[[str], tuple[object, str]], *, alone: bool
) -> list[Tried]:
    """Call `act`, which returns the answer and what to tell; what fails does not stop the others.

    `alone`: there is one, and its error is the command's.  An overlord that cannot be reached, and
    a bug, stop all.
    """
    tried = []
    for name in names:
        try:
            answer, message = act(name)
            tried.append(Tried(name, answer, message=message))
        except (ProblemAnswer, CommandFailed, DeadlinePassed) as error:
            if alone:
                raise
            tried.append(Tried(name, None, error))
    return tried


def wait_for_each(
    tried: list[Tried], wait: Callable[[str, float], None], seconds: float | None, *, alone: bool
) -> list[Tried]:
    """Wait for those that went well, all within `seconds`; None: wait for nothing."""
    if seconds is None:
        return tried
    deadline = Deadline(seconds)
    done = {one.name: one for one in tried if one.error is None}

    def awaited(name: str) -> tuple[object, str]:
        wait(name, deadline.left())
        return done[name].answer, done[name].message

    failed = [one for one in tried if one.error is not None]
    return [*each(done, awaited, alone=alone), *failed]


def show_each(
    tried: list[Tried], output: Format, *, alone: bool, ids: Mapping[str, str] | None = None
) -> None:
    """Print what became of each, and end the command with 1, or 4, if not all went well."""
    if output is Format.JSON:
        show_json(tried[0].answer if alone else [_row(one) for one in tried])
    for one in tried:
        if one.error is None and output is not Format.JSON:
            show_done((ids or {}).get(one.name, one.name), one.message)
        elif one.error is not None and _is_already(one.error):
            print_notice(str(one.error))
        elif one.error is not None:
            print_notice(f"{one.name}:")
            show_error(one.error)
    failed = [one.error for one in tried if one.error is not None and not _is_already(one.error)]
    if failed:
        print_notice(f"{len(failed)} of {len(tried)} failed")
        late = all(isinstance(error, DeadlinePassed) for error in failed)
        raise typer.Exit(LATE if late else FAILED)


def _is_already(error: SupervisorError) -> bool:
    return isinstance(error, ProblemAnswer) and error.kind == ALREADY


def _row(one: Tried) -> dict[str, object]:
    if one.error is None:
        return {"id": one.name, "answer": one.answer}
    return {"id": one.name, "error": str(one.error)}
