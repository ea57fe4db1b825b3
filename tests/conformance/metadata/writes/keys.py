"""The writes of idempotency keys, each overtaken once."""

from collections.abc import Callable, Iterable
from typing import Protocol

from supervisor.adapters.manual_clock import ManualClock
from supervisor.chores.flows.executions import StepKeys
from supervisor.core.values.idempotency import EXECUTION_CALLER, KEPT, KeyClaim, StoredAnswer
from supervisor.services.access.idempotency import Idempotency, KeyedRequest
from tests.conformance.metadata.overtaken import Overtaken
from tests.supervisor.world import World


class Story(Protocol):
    """What a story is told with."""

    store: Overtaken
    world: World

    def does(self, name: str, act: Callable[[], object]) -> None:
        """Act until nothing in it is overtaken any more."""
        ...

    def term(self) -> int:
        """Return the leader's term."""
        ...


def keys_are_used(story: Story) -> None:
    """A key is taken, and answered."""
    keys = Idempotency(story.store, story.world.clock, story.term)
    begun: list[KeyClaim | StoredAnswer] = []
    story.does("begin", lambda: begun.append(keys.begin(KeyedRequest("ann", "a key", "a digest"))))
    claim = begun[-1]
    assert isinstance(claim, KeyClaim)
    story.does("end", lambda: keys.end(claim, StoredAnswer(200, {}, b"")))
    _keys_of_steps_go(story, keys)


class _AllEnded:
    """No execution lives."""

    def alive(self, _: Iterable[str]) -> set[str]:
        """Return none."""
        return set()


def _keys_of_steps_go(story: Story, keys: Idempotency) -> None:
    """The keys of an execution that has ended are deleted."""
    request = KeyedRequest(f"{EXECUTION_CALLER}day:1", "a step", "a digest")
    story.does("begin", lambda: keys.begin(request))
    later = ManualClock(story.world.clock.now() + 2 * KEPT)
    duty = StepKeys(story.store, later, story.term, _AllEnded())
    story.does("forget keys", duty.run_once)
