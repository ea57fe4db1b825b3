"""Attention rules of lag: a supervisor that falls behind, and records that Kafka may delete."""

from collections.abc import Iterator
from datetime import timedelta

from supervisor.core.attention.items import (
    AttentionItem,
    AttentionKind,
    Severity,
    Subject,
    SubjectKind,
)
from supervisor.core.attention.pass_conditions import PassConditions
from supervisor.core.attention.remedies import (
    Remedy,
    after_deletion,
    faster_reading,
    resumption,
)
from supervisor.core.history.listing import TREND_SPAN, ListedSupervisor
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.partition_names import by_name, names_topics
from supervisor.core.planning.rules.continuity import deleted_unread, unreadable

_NAMED_BY_STATE = "OFFSETS_UNREADABLE"


def retention_risk(
    row: ListedSupervisor, seen: Observed, conditions: PassConditions
) -> Iterator[AttentionItem]:
    """Yield one item for all partitions whose headroom is below twice the time to catch up."""
    spec = seen.current.spec
    if not conditions.risks or spec is None:
        return
    names = by_name(conditions.risks, topics=names_topics(spec, conditions.risks))
    name, worst = min(names.items(), key=lambda pair: (pair[1].left, pair[0]))
    others = len(names) - 1
    more = "" if not others else f" (and of {others} more)"
    published = (
        "nobody reads it fast enough to get there first"
        if worst.catch_up is None
        else f"it takes about {rough(worst.catch_up)} until they are published"
    )
    yield AttentionItem(
        Severity.AT_RISK,
        AttentionKind.RETENTION_RISK,
        Subject(SubjectKind.SUPERVISOR, row.id),
        f"Kafka's retention reaches records of partition {name}{more} that {row.id} has not "
        f"published in about {rough(worst.left)}, and {published}",
        min(risk.since for risk in conditions.risks.values()),
        _speed(seen),
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
    named = row.state.detailed == _NAMED_BY_STATE
    known = {each.partition for each in unreadable(seen)} if named else set()
    deleted = [each for each in deleted_unread(seen) if each.partition not in known]
    if not deleted:
        return
    lost = {each.partition: each.lost for each in deleted}
    names = by_name(lost, topics=names_topics(spec, lost))
    name = min(names, key=lambda each: (-names[each], each))
    others = len(names) - 1
    rest = _records(sum(names.values()) - names[name])
    more = f" and {rest} of {others} more" if others else ""
    state = "It is suspended, and once resumed it" if spec.suspended else "It"
    marks = [at for each in deleted if (at := conditions.passed.get(each.partition)) is not None]
    yield AttentionItem(
        Severity.BROKEN,
        AttentionKind.RETENTION_PASSED,
        Subject(SubjectKind.SUPERVISOR, row.id),
        f"Kafka has deleted {_records(names[name])} of partition {name}{more} that {row.id} would "
        f"read next. {state} reads nothing there until somebody sets it on",
        min(marks, default=None),
        after_deletion(seen, deleted),
    )


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count} records"


def lag_rising(
    row: ListedSupervisor, seen: Observed, conditions: PassConditions
) -> Iterator[AttentionItem]:
    """Yield an item for a lag that has risen over `TREND_SPAN`; a suspended one is meant to."""
    spec = seen.current.spec
    if conditions.rising_since is None or not conditions.samples or spec is None or spec.suspended:
        return
    lag = conditions.samples[-1][1]
    behind = (
        f"{lag.records} records"
        if lag.age is None
        else (f"{rough(lag.age)} and {lag.records} records")
    )
    minutes = TREND_SPAN // timedelta(minutes=1)
    yield AttentionItem(
        Severity.AT_RISK,
        AttentionKind.LAG_RISING,
        Subject(SubjectKind.SUPERVISOR, row.id),
        f"{row.id} reads more slowly than its topic grows, for {minutes} minutes or longer: it is "
        f"{behind} behind",
        conditions.rising_since,
        _speed(seen),
    )


def _speed(seen: Observed) -> tuple[Remedy, ...]:
    return resumption(seen) or faster_reading()


def rough(length: timedelta) -> str:
    """Return a length of time in its largest unit, so that it reads the same for a while."""
    seconds = max(0, round(length.total_seconds()))
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
