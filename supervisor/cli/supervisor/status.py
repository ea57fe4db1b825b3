"""The table of `tidegate supervisor status`: it shows what the API says, and infers nothing."""

from collections.abc import Iterator
from datetime import datetime

from supervisor.cli.shell.form import Format, form
from supervisor.cli.shell.output import ago, show_done, show_facts, show_table, show_text
from supervisor.core.values.counts import grouped
from supervisor.views.status import StatusPayload, StatusTask, SupervisorStatus, waiting_replicas

_ERRORS_MAX = 5


def show_status(status: SupervisorStatus, now: datetime) -> None:
    """Print the status of a supervisor; times are shown relative to `now`."""
    payload = status.payload
    show_done(status.id, status.id)
    if form() is Format.NAME:
        return
    show_facts(_facts(payload, now))
    if rows := list(_partitions(payload)):
        show_text("")
        show_table(("PARTITION", "COMMITTED", "CURRENT", "LATEST", "LAG"), rows)
    if tasks := (*payload.active_tasks, *payload.publishing_tasks):
        show_text("")
        show_table(("TASK", "DOES", "SINCE", "LEFT", "OFFSETS"), (_task_row(t, now) for t in tasks))
    if payload.recent_errors:
        show_text("")
        show_table(
            ("ERROR", "WHEN", "WORKER", "MESSAGE"),
            (
                (e.exception_class, ago(e.timestamp, now), e.worker_id or "", e.message)
                for e in payload.recent_errors[:_ERRORS_MAX]
            ),
        )


def _facts(payload: StatusPayload, now: datetime) -> Iterator[tuple[str, object]]:
    yield "state", payload.state
    if payload.detailed_state != payload.state:
        yield "detail", payload.detailed_state
    yield "why", payload.why
    yield "healthy", "yes" if payload.healthy else "no"
    yield "table", payload.data_source
    yield "topic", payload.stream
    yield "lag", _lag(payload, now)
    for warning in payload.warnings:
        yield "warning", warning
    due = [g.next_publish_due for g in payload.groups if g.next_publish_due]
    if due:
        at = datetime.fromisoformat(min(due))
        yield "next publish", f"{at.isoformat(timespec='seconds')} ({ago(at, now)})"
    if waiting := waiting_replicas(payload):
        yield "slots", waiting
    for group in payload.groups:
        if group.handoff_why:
            yield f"group {group.group}", f"{group.state}: {group.handoff_why}"


def _lag(payload: StatusPayload, now: datetime) -> str:
    """Return the lag with the age of the look that it is of: records come all the time."""
    at = payload.offsets_last_updated
    if not at:
        return grouped(payload.aggregate_lag)
    return f"{grouped(payload.aggregate_lag)} as of {ago(at, now)}"


def _partitions(payload: StatusPayload) -> Iterator[tuple[object, ...]]:
    current: dict[str, int] = {}
    for task in (*payload.publishing_tasks, *payload.active_tasks):
        for partition, offset in task.current_offsets.items():
            current[partition] = max(offset, current.get(partition, 0))
    latest, lag = payload.latest_offsets or {}, payload.minimum_lag or {}
    for partition in sorted(payload.committed_offsets | current | latest, key=_numbered):
        yield (
            partition,
            payload.committed_offsets.get(partition),
            current.get(partition),
            latest.get(partition),
            lag.get(partition),
        )


def _task_row(task: StatusTask, now: datetime) -> tuple[object, ...]:
    offsets = ", ".join(
        f"{p}: {start} to {task.current_offsets.get(p, start)}"
        for p, start in sorted(task.starting_offsets.items(), key=lambda item: _numbered(item[0]))
    )
    left = "" if task.remaining_seconds is None else f"{task.remaining_seconds:.0f}s"
    return task.id, task.type, ago(task.start_time, now), left, offsets


def _numbered(partition: str) -> tuple[str, int]:
    """Return a sort key that puts partition 10 after partition 9."""
    topic, _, number = partition.rpartition(":")
    return topic, int(number) if number.isdigit() else -1
