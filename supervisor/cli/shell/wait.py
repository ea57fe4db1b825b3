"""`--wait`: polling with back-off until a state is reached or the deadline passes."""

import time
from collections.abc import Callable, Collection

from supervisor.cli.shell.client import OPERATIONS, SUPERVISORS, TASKS, Client, path_of
from supervisor.cli.shell.output import print_notice, spinner
from supervisor.cli.shell.problems import CommandFailed, DeadlinePassed, Unreachable
from supervisor.views.operations import OperationView, UnpublishedRange
from supervisor.views.status import SupervisorStatus
from supervisor.views.tasks import TaskRow

_FIRST_S, _LONGEST_S = 0.25, 2.0
_NOT_FOUND = 404
_TASKS_MAX = 1_000


def status_of(client: Client, supervisor_id: str) -> SupervisorStatus | None:
    """Return the status of a supervisor; None: no supervisor has this id."""
    path = path_of(SUPERVISORS, supervisor_id, "status")
    answer = client.get(path, also=(_NOT_FOUND,))
    return None if answer.status == _NOT_FOUND else answer.read(SupervisorStatus)


def wait_until_reading(client: Client, supervisor_id: str, seconds: float) -> None:
    """Wait until all replicas run, or until a suspended or bounded supervisor rests.

    Raises:
        DeadlinePassed: the state was not reached in time.
    """

    def look() -> str | None:
        status = status_of(client, supervisor_id)
        if status is None:
            return "it is not there yet"
        now = status.payload
        if now.suspended:
            return None if now.state == "SUSPENDED" else _format_status(status)
        if now.state == "COMPLETED":
            return None  # a bounded supervisor with nothing left to read
        running = (now.state, now.detailed_state or now.state) == ("RUNNING", "RUNNING")
        complete = bool(now.active_tasks) and not now.pending_replicas
        return None if running and complete else _format_status(status)

    wait_for(f"waiting until {supervisor_id} reads", look, seconds)


def wait_until_at_rest(client: Client, supervisor_id: str, seconds: float) -> None:
    """Wait until a suspended or terminated supervisor has published all that it has read.

    Raises:
        DeadlinePassed: tasks still publish.
    """

    def look() -> str | None:
        status = status_of(client, supervisor_id)
        if status is not None:
            now = status.payload
            busy = now.groups or now.active_tasks or now.publishing_tasks
            return _format_status(status) if busy or now.state == "RUNNING" else None
        running = [task for task in _running(client) if _is_of(task.id, supervisor_id)]
        return f"{len(running)} of its tasks still publish" if running else None

    wait_for(f"waiting until {supervisor_id} has published and rests", look, seconds)


def wait_until_handed_off(
    client: Client, supervisor_id: str, generations: Collection[str], seconds: float
) -> None:
    """Wait until these generations have published, except those that have read nothing.

    Raises:
        DeadlinePassed: a generation has not published in time.
    """

    def look() -> str | None:
        status = status_of(client, supervisor_id)
        live = () if status is None else status.payload.groups
        busy = [
            f"{one.generation_id} is {one.state}"
            for one in live
            if one.generation_id in generations and (one.asked or one.state != "READING")
        ]
        return ", ".join(busy) or None

    wait_for(f"waiting until {supervisor_id} has handed off", look, seconds)


def _offsets_of(given_up: UnpublishedRange) -> str:
    ends = given_up.end or {}
    spans = (
        f"{p} from {at}" + (f" to {ends[p]}" if p in ends else "")
        for p, at in given_up.start.items()
    )
    return f"{given_up.generation}: {', '.join(spans)}"


def wait_until_done(client: Client, operation: str, seconds: float) -> float:
    """Wait until an operation is done; return the seconds that are left.

    Raises:
        DeadlinePassed: the operation was not done in time.
        CommandFailed: the operation was superseded by a newer version of the spec, or failed.
    """
    deadline = time.monotonic() + seconds
    path = path_of(OPERATIONS, operation)

    def look() -> str | None:
        current = client.get(path).read(OperationView)
        if current.state == "superseded":
            raise CommandFailed(
                f"{operation} is superseded: the spec was changed before it was done"
            )
        if current.state == "failed":
            why = current.replay and current.replay.problem
            raise CommandFailed(f"{operation} has failed: {why or 'nothing was done'}")
        return None if current.state == "done" else f"it waits for: {current.waits_for}"

    wait_for(f"waiting until {operation} is done", look, seconds)
    return max(0.0, deadline - time.monotonic())


def wait_until_applied(
    client: Client, supervisor_id: str, operation: str | None, seconds: float
) -> None:
    """Wait until a stored spec is in force, and the supervisor reads or rests.

    `operation` None: nothing was to be done, or the overlord is of an older release.
    """
    left = seconds if operation is None else wait_until_done(client, operation, seconds)
    wait_until_reading(client, supervisor_id, left)


def wait_until_stopped(
    client: Client, supervisor_id: str, operation: str | None, seconds: float
) -> None:
    """Wait until all ranges are published; `operation` None: an older overlord names none."""
    if operation is None:
        wait_until_at_rest(client, supervisor_id, seconds)
    else:
        wait_until_done(client, operation, seconds)


def wait_until_terminated(
    client: Client, supervisor_id: str, operation: str | None, seconds: float
) -> None:
    """Wait as `wait_until_stopped`, and print the ranges that were discarded unpublished."""
    wait_until_stopped(client, supervisor_id, operation, seconds)
    if operation is None:
        return
    found = client.get(path_of(OPERATIONS, operation)).read(OperationView)
    for one in found.unpublished:
        print_notice(f"not published, no task of it was left: {_offsets_of(one)}")


class Deadline:
    """A deadline that several waits share; it starts with the constructor."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left, at least 0, so that each wait looks once."""
        return max(0.0, self._at - time.monotonic())


def wait_for(what: str, look: Callable[[], str | None], seconds: float) -> None:
    """Call `look` until it returns None; any other result is a text about what is missing.

    Raises:
        DeadlinePassed: `look` has not returned None in time.
    """
    deadline = time.monotonic() + seconds
    pause = _FIRST_S
    with spinner(what):
        while True:
            try:
                missing = look()
            except Unreachable as error:  # perhaps the overlord restarts
                missing = str(error)
            if missing is None:
                return
            left = deadline - time.monotonic()
            if left <= 0:
                raise DeadlinePassed(f"{what}: not within {seconds:g} s; {missing}")
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, _LONGEST_S)


def _format_status(status: SupervisorStatus) -> str:
    now = status.payload
    detail = now.detailed_state if now.detailed_state != now.state else ""
    more = "; ".join(part for part in (detail, now.why or "") if part)
    return f"it is {now.state}" + (f" ({more})" if more else "")


def _running(client: Client) -> list[TaskRow]:
    found = client.get(TASKS, {"state": "running", "max": _TASKS_MAX})
    return found.read(list[TaskRow])


def _is_of(task_id: str, supervisor_id: str) -> bool:
    """Whether a task `index_kafka_<supervisor>_<15 hex>_<8 letters>` is of this supervisor."""
    return task_id.rsplit("_", 2)[0] == f"index_kafka_{supervisor_id}"
