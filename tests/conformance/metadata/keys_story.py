"""The writes of idempotency keys, each overtaken once."""

from collections.abc import Callable
from typing import Protocol

from supervisor.core.values.idempotency import KeyClaim, StoredAnswer
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
