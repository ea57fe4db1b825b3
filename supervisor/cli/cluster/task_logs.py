"""`tidegate task logs`: print or follow the log of a task, which its worker or a store keeps."""

import sys
import time
from collections.abc import Iterator, Mapping
from typing import Annotated
from urllib.parse import unquote

import typer

from supervisor.cli.shell.client import TASK, ApiReply, Client, path_of
from supervisor.cli.shell.options import Server, TaskId, connect
from supervisor.cli.shell.output import print_notice, printable
from supervisor.cli.shell.problems import ProblemAnswer, Unreachable
from supervisor.views.tasks import TaskStatusView

Tail = Annotated[
    int | None,
    typer.Option(
        "--tail",
        metavar="BYTES",
        min=1,
        show_default="all that is kept",
        help="Only so many bytes of its end.",
    ),
]
_LOOK_AGAIN_S = 1.0
_NOT_YET, _AWAY = 404, 503
_START, _SIZE = "x-tidegate-log-start", "x-tidegate-log-size"
_MISSING = "x-tidegate-log-missing"


def logs(
    task_id: TaskId,
    follow: Annotated[
        bool,
        typer.Option("--follow", "-f", help="Print what comes, too, until the task has ended."),
    ] = False,
    tail: Tail = None,
    server: Server = None,
) -> None:
    """Print the log of a task; its worker keeps it for some time, and a store of logs longer.

    Example: tidegate task logs index_kafka_clicks_0a1b2c3d4e5f_abcdefgh -f
    """
    with connect(server) as client:
        if follow:
            _print(_followed(client, task_id, tail))
        else:
            print_log(client, _path(task_id), tail)


def print_log(
    client: Client, path: str, tail: int | None, params: Mapping[str, str] | None = None
) -> None:
    """Print the log at a path, piece by piece, up to its end at the time of the first request."""
    _print(_whole(client, path, tail, params or {}))


def _print(pieces: Iterator[bytes]) -> None:
    for piece in pieces:
        sys.stdout.write(printable(piece.decode("utf-8", "replace")))
        sys.stdout.flush()


def _whole(
    client: Client, path: str, tail: int | None, params: Mapping[str, str]
) -> Iterator[bytes]:
    offset, size = -tail if tail else 0, 1
    while offset < size:
        answer = client.get(path, {**params, "offset": offset})
        if not answer.body:
            return
        yield answer.body
        offset = _after(answer, offset)
        size = int(answer.headers.get(_SIZE, 0))
        if offset >= size and (missing := answer.headers.get(_MISSING)):
            print_notice(f"the log is not all here: {unquote(missing)}")


def _followed(client: Client, task_id: str, tail: int | None) -> Iterator[bytes]:
    """Yield the log and what is added to it, until the task has ended.

    While no overlord or the worker is there, as across their restarts, or the task has not begun,
    requests are repeated: what was printed is not printed again.
    """
    offset, last_error, known = -tail if tail else 0, "", False
    while True:
        ended: bool | None = None
        try:
            # Before reading: the last lines come before the end.
            ended = _has_ended(client, task_id)
            answer = client.get(_path(task_id), {"offset": offset})
        except (ProblemAnswer, Unreachable) as error:
            if not _passes(error, ended=ended, known=known):
                raise
            if str(error) != last_error:
                last_error = str(error)
                print_notice(f"waiting: {last_error}")
            time.sleep(_LOOK_AGAIN_S)
            continue
        known = True
        offset = _after(answer, offset)
        if answer.body:
            yield answer.body
        elif ended:
            return
        else:
            time.sleep(_LOOK_AGAIN_S)


def _passes(error: ProblemAnswer | Unreachable, *, ended: bool | None, known: bool) -> bool:
    """Return whether a repeat may help.

    `ended`: whether the task had ended; None: that was not answered.  `known`: something was
    answered before, so that this is the right address and there is such a task.
    """
    if ended is None:
        away = isinstance(error, Unreachable) or error.status == _AWAY
        return known and away
    if isinstance(error, Unreachable):
        return True
    return error.status in {_NOT_YET, _AWAY} and not ended


def _after(answer: ApiReply, offset: int) -> int:
    return int(answer.headers.get(_START, max(0, offset))) + len(answer.body)


def _has_ended(client: Client, task_id: str) -> bool:
    status = client.get(path_of(TASK, task_id, "status")).read(TaskStatusView).status
    return status.status_code != "RUNNING"


def _path(task_id: str) -> str:
    return path_of(TASK, task_id, "log")
