"""The idle rule: no task runs while no records arrive (`idleConfig` of a spec).

    all is read, nothing came for inactiveAfterMillis ──► empty ranges close, no task runs: IDLE
    something comes ──────────────────────────────────► groups open where reading stopped

The rule needs no memory.  If a range starts at the end of the log, no record has arrived since the
range was opened, so its age is the time without records.

Source: Druid's docs, "Idle configuration".
"""

from datetime import datetime, timedelta

from supervisor.core.model.rows import GenerationState
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.view import PassView
from supervisor.core.values.clock_skew import is_over
from supervisor.core.values.counts import in_seconds

FRESH_FOR = timedelta(seconds=5)
"""An answer of Kafka older than this is requested again."""
_ANSWERED_AFTER = timedelta(seconds=1)


def why_idle(view: PassView) -> str | None:
    """Return the reason why the supervisor becomes idle; None: its tasks read on."""
    after = _after(view)
    if after is None or not _all_is_read(view):
        return None
    live, now = view.seen.generations, view.seen.now
    if any(g.state is not GenerationState.READING for g in live):
        return None
    if not all(is_over(g.opened_at, after, now) for g in live):
        return None
    return f"nothing came for {in_seconds(after)} (idleConfig)"


def idle_at(view: PassView) -> datetime | None:
    """Return when the supervisor becomes idle, if no record arrives."""
    after = _after(view)
    opened = [g.opened_at for g in view.seen.generations]
    return None if after is None or not opened else max(opened) + after


def rests(view: PassView) -> bool:
    """Return whether to open no range: reading has begun once, and no record is known to be left.

    A new leader waits for its first look at the topic.
    """
    if view.seen.newest is None or _after(view) is None:
        return False
    return view.seen.stream.read_at is None or _all_is_read(view)


def look_again_at(view: PassView) -> datetime | None:
    """Return when a newer answer of Kafka will be there; None: the last answer is fresh enough.

    Growing offsets do not wake the loop, so without a reading task only passes notice them.
    """
    read_at, now = view.seen.stream.read_at, view.seen.now
    old = read_at is not None and read_at + FRESH_FOR < now
    return now + _ANSWERED_AFTER if old else None


def is_idle(seen: Observed) -> bool:
    """Return whether no task runs because no records arrive."""
    if seen.generations or seen.tasks or seen.stream.read_at is None:
        return False
    return rests(PassView(seen))


def _after(view: PassView) -> timedelta | None:
    return None if view.spec is None else view.spec.io_config.idle_after


def _all_is_read(view: PassView) -> bool:
    """Return whether all records are read, by Kafka's last answer; without an answer: False."""
    stable = view.seen.stream.stable
    members = [p for group in view.groups.values() for p in group]
    return bool(members) and all(p in stable and view.next_start(p) >= stable[p] for p in members)
