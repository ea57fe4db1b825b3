"""Bulk verbs: one action on several supervisors, one result each, and one exit code."""

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
    """The result for one supervisor or file."""

    name: str
    answer: object
    error: SupervisorError | None = None
    message: str = ""


def each(
    names: Iterable[str], act: Callable[[str], tuple[object, str]], *, alone: bool
) -> list[Tried]:
    """Call `act` for each name and return the results; a failure does not stop the others.

    `act` returns the answer and a message.  `alone`: there is one name, and its error is raised.
    An unreachable overlord and a bug stop all.
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
    """Wait for the successful ones, all within `seconds` together; None: do not wait."""
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
    """Print each result, and end the command with exit code 1 or 4 if one failed or was late.

    `ids`: name -> id of the supervisor, where the names are those of files.
    """
    ids = ids or {}
    if output is Format.JSON:
        show_json(tried[0].answer if alone else [_row(one, ids) for one in tried])
    for one in tried:
        if one.error is None and output is not Format.JSON:
            show_done(ids.get(one.name, one.name), one.message)
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


def _row(one: Tried, ids: Mapping[str, str]) -> dict[str, object]:
    if one.error is None:
        return {"id": ids.get(one.name, one.name), "answer": one.answer}
    return {"id": one.name, "error": str(one.error)}
