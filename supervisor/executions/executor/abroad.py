"""Calls that this runner makes, or is thought to make, for partitions that others own by now.

Their owners cannot ask it: it learns from the tables what they have committed.  What they have
cancelled it stops.  What they think it makes, and it does not know of, is lost: the answer that
granted it never came, as the partition went to another owner meanwhile.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from supervisor.core.executions.entities import Runner
from supervisor.core.executions.inputs import AttemptLost
from supervisor.executions.runner import CallRunner
from supervisor.ports.flows.executions import CallPlace, HeldCall
from supervisor.ports.store_problems import StoreAway, StoreRefuses

__all__ = ["CallsAbroad"]

log = structlog.get_logger()

UNKNOWN_S = 60.0
"""Longer than an answer of an owner may take: what is unknown for this long was never granted."""
_SELDOM = 10
"""While it makes nothing for others, it looks once in this many times."""


@dataclass
class CallsAbroad:
    """The duty of each second."""

    held: Callable[[Runner], Sequence[HeldCall]]
    """What the tables say that a runner holds; raises StoreAway, StoreRefuses."""
    is_here: Callable[[str], bool]
    """Whether an execution is of a partition that is worked here."""
    runner: CallRunner
    send: Callable[[str, AttemptLost], None]
    """Send an input to an execution, by the history."""
    monotonic: Callable[[], float] = time.monotonic
    _unknown: dict[CallPlace, float] = field(default_factory=dict)
    """Since when."""
    _times: int = 0

    def run_once(self) -> None:
        """Look, if there is a reason to."""
        self._times += 1
        abroad = any(not self.is_here(each.execution) for each in self.runner.makes)
        if not (abroad or self._unknown or self._times % _SELDOM == 0):
            return
        known = self.runner.knows()
        try:
            held = self.held(self.runner.runner)
        except (StoreAway, StoreRefuses):
            return
        others = [each for each in held if not self.is_here(each.place.execution)]
        self.runner.cancel([each.place for each in others if each.cancelled])
        now = self.monotonic()
        unknown = [each.place for each in others if each.place not in known]
        self._unknown = {place: self._unknown.get(place, now) for place in unknown}
        for place, since in list(self._unknown.items()):
            if now - since > UNKNOWN_S:
                log.warning("a call was granted and never heard of", execution=place.execution)
                lost = AttemptLost(place.run, place.attempt, self.runner.runner)
                self.send(place.execution, lost)
                del self._unknown[place]
