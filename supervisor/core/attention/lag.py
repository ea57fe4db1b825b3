"""Attention rules of lag: a supervisor that falls behind, and records that Kafka may delete."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from supervisor.core.attention.items import (
    AttentionItem,
    AttentionKind,
    Severity,
    Subject,
    SubjectKind,
)
from supervisor.core.attention.pass_conditions import FURTHEST_MAX, PassConditions
from supervisor.core.attention.remedies import (
    Remedy,
    after_deletion,
    faster_reading,
    resumption,
)
from supervisor.core.history.lag import UNKNOWN_LAG, Lag
from supervisor.core.history.listing import TREND_SPAN, ListedSupervisor
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.rules.continuity import deleted_unread, unreadable
from supervisor.core.planning.states import State
from supervisor.core.values.counts import counted, grouped
from tasks.contract.offsets import TopicPartition

_NAMED_BY_STATE = "OFFSETS_UNREADABLE"


def retention_risk(
    row: ListedSupervisor, seen: Observed, conditions: PassConditions
) -> Iterator[AttentionItem]:
    """Yield one item for all partitions whose headroom is below twice the time to catch up."""
    spec = seen.current.spec
    if not conditions.risks or spec is None:
        return
    nearest = sorted(conditions.risks, key=lambda each: (conditions.risks[each].left, each))
    worst = conditions.risks[nearest[0]]
    if spec.suspended:
        published = "it is suspended"
    elif worst.catch_up is None:
        published = "nobody reads it fast enough to get there first"
    else:
        published = f"it takes about {rough(worst.catch_up)} until they are published"
    others = len(nearest) - 1
    more = f" (and of {grouped(others)} more)" if others else ""
    yield AttentionItem(
        Severity.AT_RISK,
        AttentionKind.RETENTION_RISK,
        Subject(SubjectKind.SUPERVISOR, row.id),
        f"{row.id} has not published records of {named(nearest[0])}{more} that Kafka's retention "
        f"reaches in about {rough(worst.left)}, and {published}",
        min(risk.since for risk in conditions.risks.values()),
        _speed(seen),
        partitions=tuple(nearest[:FURTHEST_MAX]),
    )


def retention_passed(
    row: ListedSupervisor, seen: Observed, conditions: PassConditions
) -> Iterator[AttentionItem]:
    """Yield one item for all partitions whose next records Kafka has deleted.

    Those that the supervisor's state names already are left out.
    """
    spec = seen.current.spec
    if spec is None or not conditions.passed:
        return
    is_named = row.state.detailed == _NAMED_BY_STATE
    known = {each.partition for each in unreadable(seen)} if is_named else set()
    deleted = [each for each in deleted_unread(seen) if each.partition not in known]
    if not deleted:
        return
    worst = sorted(deleted, key=lambda each: (-each.lost, each.partition))
    others = len(worst) - 1
    rest = counted(sum(each.lost for each in worst[1:]), "record")
    more = f" and {rest} of {grouped(others)} more" if others else ""
    state = "It is suspended, and once resumed it" if spec.suspended else "It"
    marks = [at for each in deleted if (at := conditions.passed.get(each.partition)) is not None]
    yield AttentionItem(
        Severity.BROKEN,
        AttentionKind.RETENTION_PASSED,
        Subject(SubjectKind.SUPERVISOR, row.id),
        f"{row.id} would next read {counted(worst[0].lost, 'record')} of "
        f"{named(worst[0].partition)}{more} that Kafka has deleted. {state} reads nothing there "
        "until somebody sets its offsets",
        min(marks, default=None),
        after_deletion(seen, deleted),
        partitions=tuple(each.partition for each in worst[:FURTHEST_MAX]),
    )


def lag_rising(
    row: ListedSupervisor, seen: Observed, conditions: PassConditions
) -> Iterator[AttentionItem]:
    """Yield an item for a lag that has risen over `TREND_SPAN`; a suspended one is meant to."""
    spec = seen.current.spec
    if conditions.rising_since is None or not conditions.samples or spec is None or spec.suspended:
        return
    lag = conditions.samples[-1][1]
    records = _records(lag)
    behind = records if lag.age is None else f"{rough(lag.age)} and {records}"
    minutes = TREND_SPAN // timedelta(minutes=1)
    yield AttentionItem(
        Severity.AT_RISK,
        AttentionKind.LAG_RISING,
        Subject(SubjectKind.SUPERVISOR, row.id),
        f"{row.id} reads more slowly than its topic grows, for {minutes} minutes or longer: it is "
        f"{behind} behind{_most_in(conditions)}",
        conditions.rising_since,
        _speed(seen),
        partitions=tuple(partition for partition, _ in conditions.furthest),
    )


def suspended_behind(
    row: ListedSupervisor, seen: Observed, conditions: PassConditions, now: datetime
) -> Iterator[AttentionItem]:
    """Yield an item for a suspended supervisor whose topic goes on: perhaps nobody means it to be.

    It is of no concern while the suspension is younger than `TREND_SPAN`, and while its lag is not
    known.  Once retention gets near, or has passed, that is an item of its own.
    """
    spec = seen.current.spec
    if spec is None or not spec.suspended or conditions.partitions_at_risk:
        return
    lag = conditions.samples[-1][1] if conditions.samples else UNKNOWN_LAG
    since = row.since if row.state.state is State.SUSPENDED else None
    is_long = since is not None and now - since >= TREND_SPAN
    grows = conditions.rising_since is not None
    if not lag.records or not (grows or (conditions.headroom is not None and is_long)):
        return
    left = conditions.headroom
    kept = "" if left is None else f". Kafka deletes the first of them in about {rough(left)}"
    yield AttentionItem(
        Severity.TO_KNOW,
        AttentionKind.SUSPENDED_BEHIND,
        Subject(SubjectKind.SUPERVISOR, row.id),
        f"{row.id} is suspended while its topic grows: "
        f"{counted(lag.records, 'record is', 'records are')} unread"
        f"{_most_in(conditions)}{kept}",
        since or conditions.rising_since,
        resumption(seen),
        partitions=tuple(partition for partition, _ in conditions.furthest),
    )


def named(partition: TopicPartition) -> str:
    """Return a partition as a part of a sentence, with its topic."""
    return f"partition {partition.partition} of topic {partition.topic}"


def _records(lag: Lag) -> str:
    return counted(lag.records or 0, "record")


def _most_in(conditions: PassConditions) -> str:
    """Return where most of a lag is, as the end of a sentence; empty: it is not known."""
    total = conditions.samples[-1][1].records if conditions.samples else None
    match conditions.furthest:
        case ():
            return ""
        case ((partition, lag),) if lag == total:
            return f", all of it in {named(partition)}"
    topic, parts = "", []
    for partition, lag in conditions.furthest:
        # A topic is named once, and again where another one follows.
        name = f"partition {partition.partition}" if topic == partition.topic else named(partition)
        parts.append(f"{name} ({grouped(lag)})")
        topic = partition.topic
    return f", most of it in {', '.join(parts)}"


def _speed(seen: Observed) -> tuple[Remedy, ...]:
    return resumption(seen) or faster_reading()


def rough(length: timedelta) -> str:
    """Return a length of time in its largest unit, so that it reads the same for a while."""
    seconds = max(0, round(length.total_seconds()))
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
