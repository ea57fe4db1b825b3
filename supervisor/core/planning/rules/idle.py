"""When no task is needed because nothing comes: the `idleConfig` of a spec.

    all is read, nothing came for inactiveAfterMillis ──► empty ranges close, no task runs: IDLE
    something comes ──────────────────────────────────► groups open where reading stopped

Nothing is remembered: a range that stands where the log ends has been sent nothing since it was
opened, so its age is how long nothing came.

Source: Druid's docs, "Idle configuration".
"""

from datetime import datetime, timedelta

from supervisor.core.model.rows import GenerationState
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.view import PassView
from supervisor.core.values.clock_skew import is_over

FRESH_FOR = timedelta(seconds=5)
"""What Kafka told is asked for anew when it is older than this."""
_ANSWERED_AFTER = timedelta(seconds=1)


def why_idle(view: PassView) -> str | None:
    """Say that what reads has had nothing to read for so long; None: it goes on."""
    after = _after(view)
    if after is None or not _all_is_read(view):
        return None
    live, now = view.seen.generations, view.seen.now
    if any(g.state is not GenerationState.READING for g in live):
        return None
    if not all(is_over(g.opened_at, after, now) for g in live):
        return None
    return f"nothing came for {after.total_seconds():g} s (idleConfig)"


def idle_at(view: PassView) -> datetime | None:
    """Return when what reads will have waited long enough, if nothing comes."""
    after = _after(view)
    opened = [g.opened_at for g in view.seen.generations]
    return None if after is None or not opened else max(opened) + after


def rests(view: PassView) -> bool:
    """Tell whether no range is opened: reading has begun once, and nothing is known to be left.

    A new leader waits for its first look at the topic.
    """
    if view.seen.newest is None or _after(view) is None:
        return False
    return view.seen.stream.read_at is None or _all_is_read(view)


def look_again_at(view: PassView) -> datetime | None:
    """Return when a newer answer of Kafka's will be there; None: what it told is not old yet.

    Offsets that grow wake nobody, and while nothing reads only passes see them.
    """
    read_at, now = view.seen.stream.read_at, view.seen.now
    old = read_at is not None and read_at + FRESH_FOR < now
    return now + _ANSWERED_AFTER if old else None


def is_idle(seen: Observed) -> bool:
    """Tell whether nothing runs because nothing comes."""
    if seen.generations or seen.tasks or seen.stream.read_at is None:
        return False
    return rests(PassView(seen))


def _after(view: PassView) -> timedelta | None:
    return None if view.spec is None else view.spec.io_config.idle_after


def _all_is_read(view: PassView) -> bool:
    """As far as Kafka has told; without an answer nothing is known to be read."""
    stable = view.seen.stream.stable
    members = [p for group in view.groups.values() for p in group]
    return bool(members) and all(p in stable and view.next_start(p) >= stable[p] for p in members)
