"""Explanation of a supervisor's state in sentences, derived from its status and plans.

The order is that of importance: the state and its reason, what the supervisor waits for, what
would change the state, the next steps, recent failures and their remedy.  Each sentence has links
to what it names, and the remedies are there as data, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from pydantic import Field

from supervisor.core.attention.changes import change_of
from supervisor.core.attention.remedies import RemedyAction
from supervisor.core.model.rows import GenerationState
from supervisor.core.planning.actions import (
    BeginHandoff,
    CloseEmpty,
    CommitInitialOffsets,
    DiscardGeneration,
    EndTask,
    FixEnd,
    OpenGeneration,
    ResetOffsets,
    ResumeReading,
    StartTask,
)
from supervisor.core.values.counts import counted, grouped
from supervisor.ports.state_history import StoredState
from supervisor.views.attention.remedies import RemedyView
from supervisor.views.status import (
    StatusGroup,
    StatusPayload,
    SupervisorStatus,
    waiting_replicas,
)
from supervisor.views.tables.ledger import PlannedAction, PlanView
from tasks.contract.wire import Instant, Wire

FAILURES_SHOWN = 3
_OF_TASKS = frozenset(kind.__name__ for kind in (StartTask, EndTask))
_OF_RANGES = frozenset(
    kind.__name__
    for kind in (
        OpenGeneration,
        BeginHandoff,
        ResumeReading,
        FixEnd,
        CloseEmpty,
        DiscardGeneration,
    )
)
"""Names of actions, as plans have them, by what their `about` names."""
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        CommitInitialOffsets.__name__: "begin to read topic",
        OpenGeneration.__name__: "open range",
        StartTask.__name__: "start task",
        EndTask.__name__: "end task",
        BeginHandoff.__name__: "pause range",
        ResumeReading.__name__: "resume range",
        FixEnd.__name__: "set the end of range",
        CloseEmpty.__name__: "close the empty range",
        DiscardGeneration.__name__: "discard range",
        ResetOffsets.__name__: "move the offsets of topic",
    }
)
"""Name of an action -> what it does, with the kind of what it is about; the console says the same.
"""


class Topic(StrEnum):
    """What a sentence is about."""

    STATE = "state"
    WAITS = "waits"
    CHANGES = "changes"
    NEXT = "next"
    FAILURE = "failure"
    DECIDED = "decided"


class LinkKind(StrEnum):
    """The kind of what a sentence names."""

    GENERATION = "generation"
    TASK = "task"
    WORKER = "worker"
    QUEUE = "queue"


class Link(Wire):
    """One thing that a sentence names."""

    kind: LinkKind
    id: str
    """Its id; of a queue `container/name`."""


class Sentence(Wire):
    """One sentence, for people."""

    about: Topic
    text: str
    links: list[Link] = Field(default_factory=list)
    """What the sentence names, in its order."""
    since: Instant | None = None
    """When the state began, or the time of the event; null: not known."""


class Explanation(Wire):
    """The reasons for the state of a supervisor, the most important first."""

    supervisor_id: str
    state: str
    detailed_state: str
    healthy: bool
    sentences: list[Sentence]
    remedies: list[RemedyView] = Field(default_factory=list)
    """Steps that may help, the best first."""


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
            *_next(now, status.generation_time),
            *_failures(now),
            *_decided(plans),
        ],
        remedies=now.remedies,
    )


def _state(status: SupervisorStatus, stored: StoredState | None) -> Sentence:
    now = status.payload
    same = stored is not None and stored.detailed == now.detailed_state
    detail = f" ({now.detailed_state})" if now.detailed_state != now.state else ""
    why = f": {now.why}" if now.why else ""
    return Sentence(
        about=Topic.STATE,
        text=f"{status.id} is {now.state}{detail}{why}.",
        links=[*_of_remedies(now.remedies)],
        since=stored.since if stored and same else None,
    )


def _of_remedies(remedies: Sequence[RemedyView]) -> Iterator[Link]:
    """Yield what the remedies of a state are about: the reason of the state names the same."""
    for remedy in remedies:
        params = remedy.params
        if "task" in params:
            yield Link(kind=LinkKind.TASK, id=str(params["task"]))
        if "worker" in params:
            yield Link(kind=LinkKind.WORKER, id=str(params["worker"]))
        if "queue" in params:
            yield Link(kind=LinkKind.QUEUE, id=f"{params['container']}/{params['queue']}")


def _waits(now: StatusPayload) -> Iterator[Sentence]:
    if waiting := waiting_replicas(now):
        yield Sentence(about=Topic.WAITS, text=f"{waiting}.")
    for group in now.groups:
        if group.state is GenerationState.PAUSING:
            text = f"Group {group.group} waits until its replicas have paused: {group.handoff_why}."
            yield Sentence(about=Topic.WAITS, text=text, links=[_range(group)])
        elif group.state is GenerationState.PUBLISHING:
            tasks = [t.id for t in now.publishing_tasks if t.generation_id == group.generation_id]
            who = ", ".join(tasks) or "a task that is still to start"
            text = f"A range of group {group.group} waits until {who} has read and published it."
            links = [_range(group), *(Link(kind=LinkKind.TASK, id=task) for task in tasks)]
            yield Sentence(about=Topic.WAITS, text=text, links=links)
    if now.unstable:
        held = ", ".join(f"{p} ({grouped(count)})" for p, count in now.unstable.items())
        text = f"Records behind an open transaction cannot be read yet, in partition {held}."
        yield Sentence(about=Topic.WAITS, text=text)


def _range(group: StatusGroup) -> Link:
    return Link(kind=LinkKind.GENERATION, id=group.generation_id)


def _changes(now: StatusPayload) -> Iterator[Sentence]:
    # The state of a topic that was never there is Druid's: that of brokers that cannot be read.
    missing = any(each.action is RemedyAction.CREATE_TOPIC for each in now.remedies)
    if (change := change_of(now.detailed_state, is_topic_missing=missing)) is not None:
        yield Sentence(about=Topic.CHANGES, text=f"What would change it: {change}.")


def _next(now: StatusPayload, at_present: str) -> Iterator[Sentence]:
    due = [(g.next_publish_due, g.group, g) for g in now.groups if g.next_publish_due is not None]
    if due:
        at, number, group = min(due, key=lambda each: each[:2])
        text = f"Group {number} hands off next, at {at}; what it has read is published after that."
        if datetime.fromisoformat(at) < datetime.fromisoformat(at_present):
            text = f"Group {number} was due to hand off at {at}, and has not done so yet."
        yield Sentence(about=Topic.NEXT, text=text, links=[_range(group)])
    for group in now.groups:
        if group.asked:
            text = f"Group {group.group} hands off in the next pass: {group.asked}."
            yield Sentence(about=Topic.NEXT, text=text, links=[_range(group)])
    if now.groups and now.latest_offsets:
        age = now.aggregate_lag_millis
        old = "" if not age else f", the oldest {age / 1_000:,.0f} s old"
        text = f"{counted(now.aggregate_lag, 'record is', 'records are')} not read yet{old}."
        yield Sentence(about=Topic.NEXT, text=text)


def _failures(now: StatusPayload) -> Iterator[Sentence]:
    for error in reversed(now.recent_errors[-FAILURES_SHOWN:]):
        text = f"{error.exception_class} at {error.timestamp}: {error.message}"
        links = [] if error.task_id is None else [Link(kind=LinkKind.TASK, id=error.task_id)]
        yield Sentence(about=Topic.FAILURE, text=text, links=links)
    for warning in now.warnings:
        yield Sentence(about=Topic.FAILURE, text=f"{warning}.")


def _decided(plans: Sequence[PlanView]) -> Iterator[Sentence]:
    for plan in plans[:1]:
        for action in plan.actions:
            about = f" {action.about}" if action.about else ""
            does = _WORDS.get(action.action, action.action)
            text = f"Decided last: {does}{about}, because: {action.why}"
            links = [*_of_action(action)]
            yield Sentence(about=Topic.DECIDED, text=text, links=links, since=plan.at)


def _of_action(action: PlannedAction) -> Iterator[Link]:
    if action.action in _OF_TASKS:
        yield Link(kind=LinkKind.TASK, id=action.about)
    elif action.action in _OF_RANGES:
        yield Link(kind=LinkKind.GENERATION, id=action.about)
