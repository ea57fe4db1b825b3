"""Explanation of a supervisor's state in sentences, derived from its status and plans.

The order is that of importance: the state and its reason, what the supervisor waits for, what
would change the state, the next steps, recent failures and their remedy.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from supervisor.core.model.rows import GenerationState
from supervisor.ports.state_history import StoredState
from supervisor.views.status import StatusPayload, SupervisorStatus, waiting_replicas
from supervisor.views.tables.ledger import PlanView
from tasks.contract.wire import Instant, Wire

FAILURES_SHOWN = 3
_ELSEWHERE = (
    "`tidegate supervisor reset ID --offset P=N` goes on in partition P alone, at an offset that "
    "Kafka holds (without --offset, all partitions begin again)"
)
_REMEDIES = {
    "PENDING": "the first pass makes it run; `tidegate doctor` looks for what holds one up",
    "CONNECTING_TO_STREAM": "Kafka answers: check bootstrap.servers if this lasts",
    "DISCOVERING_INITIAL_TASKS": "its first offsets are stored, which takes a pass",
    "CREATING_TASKS": "a worker reports its tasks: check that one runs if this lasts",
    "NO_CAPACITY": "another worker, more TIDEGATE_WORKER_SLOTS, a lower taskCount or replicas",
    "SUSPENDED": "`tidegate supervisor resume` lets it go on where it stopped",
    "STOPPING": "what it has read is published, and then it is gone",
    "IDLE": "a record of its topic, which is noticed within half a minute",
    "COMPLETED": "a new boundedStreamConfig, or another supervisor, reads more",
    "UNABLE_TO_CONNECT_TO_STREAM": "Kafka can be reached: check brokers, credentials, network",
    "LOST_CONTACT_WITH_STREAM": "Kafka can be reached again; nothing is lost meanwhile",
    "TOPIC_CHANGED": "`tidegate supervisor reset` takes the new topic up",
    "TOPIC_GONE": "the topic is made anew and then `tidegate supervisor reset`, or `terminate`",
    "OFFSETS_UNREADABLE": _ELSEWHERE,
    "LOST_CONTINUITY": _ELSEWHERE,
    "NO_SUCH_PARTITION": "a boundedStreamConfig that names partitions of the topic",
    "BOUNDS_MISMATCHED": "a supervisor of another id for the other range",
    "SCHEMA_REGISTRY_UNAVAILABLE": "the schema registry answers again",
    "UNREADABLE_SPEC": "a spec that this release reads, or an overlord of a newer release",
    "UNREADABLE_ROWS": "an overlord of the newer release that wrote them leads",
    "EVENT_QUEUE_DEAD": "the repair that the reason names",
    "UNHEALTHY_TASKS": "its tasks succeed: the failures below say what holds them up",
    "UNHEALTHY_SUPERVISOR": "its passes succeed: the failures below say what holds them up",
}


class Topic(StrEnum):
    """What a sentence is about."""

    STATE = "state"
    WAITS = "waits"
    CHANGES = "changes"
    NEXT = "next"
    FAILURE = "failure"
    DECIDED = "decided"


class Sentence(Wire):
    """One sentence, for people."""

    about: Topic
    text: str
    since: Instant | None = None
    """When the state began, or the time of the event; null: not known."""


class Explanation(Wire):
    """The reasons for the state of a supervisor, the most important first."""

    supervisor_id: str
    state: str
    detailed_state: str
    healthy: bool
    sentences: list[Sentence]


def explain(
    status: SupervisorStatus, stored: StoredState | None, plans: Sequence[PlanView]
) -> Explanation:
    """Return the explanation; `stored` has the start of the state, if the state is the same."""
    now = status.payload
    return Explanation(
        supervisor_id=status.id,
        state=now.state,
        detailed_state=now.detailed_state,
        healthy=now.healthy,
        sentences=[
            _state(status, stored),
            *_waits(now),
            *_changes(now),
            *_next(now),
            *_failures(now),
            *_decided(plans),
        ],
    )


def _state(status: SupervisorStatus, stored: StoredState | None) -> Sentence:
    now = status.payload
    same = stored is not None and stored.detailed == now.detailed_state
    detail = f" ({now.detailed_state})" if now.detailed_state != now.state else ""
    why = f": {now.why}" if now.why else ""
    text = f"{status.id} is {now.state}{detail}{why}."
    return Sentence(about=Topic.STATE, text=text, since=stored.since if stored and same else None)


def _waits(now: StatusPayload) -> Iterator[Sentence]:
    if waiting := waiting_replicas(now):
        yield Sentence(about=Topic.WAITS, text=f"{waiting}.")
    for group in now.groups:
        if group.state is GenerationState.PAUSING:
            text = f"Group {group.group} waits until its replicas have paused: {group.handoff_why}."
            yield Sentence(about=Topic.WAITS, text=text)
        elif group.state is GenerationState.PUBLISHING:
            tasks = [t.id for t in now.publishing_tasks if t.generation_id == group.generation_id]
            who = ", ".join(tasks) or "a task that is still to start"
            text = f"A range of group {group.group} waits until {who} has read and published it."
            yield Sentence(about=Topic.WAITS, text=text)
    if now.unstable:
        held = ", ".join(f"{p} ({count})" for p, count in now.unstable.items())
        text = f"Records behind an open transaction cannot be read yet, in partition {held}."
        yield Sentence(about=Topic.WAITS, text=text)


def _changes(now: StatusPayload) -> Iterator[Sentence]:
    if (remedy := _REMEDIES.get(now.detailed_state)) is not None:
        yield Sentence(about=Topic.CHANGES, text=f"What would change it: {remedy}.")


def _next(now: StatusPayload) -> Iterator[Sentence]:
    due = [(g.next_publish_due, g.group) for g in now.groups if g.next_publish_due is not None]
    if due:
        at, number = min(due)
        text = f"Group {number} hands off next, at {at}; what it has read is published after that."
        yield Sentence(about=Topic.NEXT, text=text)
    for group in now.groups:
        if group.asked:
            text = f"Group {group.group} hands off in the next pass: {group.asked}."
            yield Sentence(about=Topic.NEXT, text=text)
    if now.groups and now.latest_offsets:
        age = now.aggregate_lag_millis
        old = "" if not age else f", the oldest {age / 1_000:.0f} s old"
        text = f"{now.aggregate_lag} records are not read yet{old}."
        yield Sentence(about=Topic.NEXT, text=text)


def _failures(now: StatusPayload) -> Iterator[Sentence]:
    for error in reversed(now.recent_errors[-FAILURES_SHOWN:]):
        text = f"{error.exception_class} at {error.timestamp}: {error.message}"
        yield Sentence(about=Topic.FAILURE, text=text)
    for warning in now.warnings:
        yield Sentence(about=Topic.FAILURE, text=f"{warning}.")


def _decided(plans: Sequence[PlanView]) -> Iterator[Sentence]:
    for plan in plans[:1]:
        for action in plan.actions:
            about = f" {action.about}" if action.about else ""
            text = f"The last pass that acted decided {action.action}{about}: {action.why}"
            yield Sentence(about=Topic.DECIDED, text=text, since=plan.at)
