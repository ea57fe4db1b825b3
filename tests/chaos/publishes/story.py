"""One run: ranges are published while leaders and executors die; then all is judged."""

import random
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import JsonValue

from supervisor.metadata.store import SqlStore
from supervisor.ports.flows.execution_log import LogTopic
from tests.chaos.flows.crew import EXECUTORS, LEADERS, Crew
from tests.chaos.publishes.judge import (
    COALESCED,
    EACH,
    PublishVerdict,
    judge_publishes,
    publications_of,
)
from tests.chaos.publishes.publishing import TABLE, PublishingTable
from tests.conformance.stories import LEASE_TTL
from tests.environment.execution_topics import TopicsOfTest
from tests.waiting import wait_until

__all__ = ["KEPT", "PublishStory", "flows_of_publishes"]

KEPT = {"TIDEGATE_EXECUTIONS_PER_FLOW": "1000000"}
"""Nothing is purged before it is judged."""
_LINE_EVERY = 500
_AGAIN_S = 0.2


def flows_of_publishes() -> list[dict[str, JsonValue]]:
    """Return the two flows: one execution per publish, and one for all that came meanwhile."""
    seen: dict[str, JsonValue] = {"name": "seen", "type": "published", "table": TABLE}
    return [
        {
            "flow": EACH,
            "steps": [{"name": "one", "type": "noop"}],
            "triggers": [{**seen, "mode": "each"}],
        },
        {
            "flow": COALESCED,
            "steps": [{"name": "nap", "type": "sleep", "duration": "PT2S"}],
            "triggers": [{**seen, "mode": "coalesced"}],
        },
    ]


@dataclass
class PublishStory:
    """Plays once."""

    crew: Crew
    url: str
    """Of the metadata database, by a wire that is never cut."""
    bootstrap: str
    seed: int
    say: Callable[[str], None]
    faults: Counter[str] = field(default_factory=Counter)
    published: int = 0
    repeats: int = 0
    """Publishes that were not known to be done, and were followed by another one."""
    pace_s: float = 0.05
    """Between two publishes."""
    within_s: float = 240.0
    _over: threading.Event = field(default_factory=threading.Event)
    """Set: the publishes are done."""
    _given_up: threading.Event = field(default_factory=threading.Event)
    """Set: nobody kills any more, and the run has failed."""
    _pause: threading.Event = field(default_factory=threading.Event)
    """Never set."""

    @property
    def kills(self) -> int:
        """How many processes were killed."""
        return sum(self.faults.values())

    def play(self, publishes: int, kills: int) -> PublishVerdict:
        """Publish so often, kill at least so often, let all end, and judge."""
        wait_until(lambda: self.crew.ask("GET", "/api/v1/flows") is not None, within_s=120.0)
        for flow in flows_of_publishes():
            wait_until(lambda: self.crew.ask("POST", "/api/v1/flows", flow) is not None)  # noqa: B023 -- waited for here
        troubles: list[BaseException] = []
        publisher = threading.Thread(
            target=self._publish, args=(publishes, troubles), name="publisher"
        )
        publisher.start()
        try:
            self._break(kills)
        except BaseException:
            self._given_up.set()  # else it waits for ever for a leader that nobody starts
            raise
        finally:
            self._over.set()
            publisher.join()
        self.crew.heal()
        if troubles:
            raise troubles[0]
        self.say(f"{self.published} published, {self.repeats} repeats, {dict(self.faults)}")
        return self._judge()

    def _publish(self, publishes: int, troubles: list[BaseException]) -> None:
        try:
            store = SqlStore(self.url, lease_ttl=LEASE_TTL)
            try:
                self._publish_all(PublishingTable(store), publishes)
            finally:
                store.close()
        except BaseException as error:  # noqa: BLE001 -- for the thread that waits
            troubles.append(error)
        finally:
            self._over.set()

    def _publish_all(self, table: PublishingTable, publishes: int) -> None:
        while self.published < publishes and not self._given_up.is_set():
            if table.publish():
                self.published += 1
                self._pause.wait(self.pace_s)
                if self.published % _LINE_EVERY == 0:
                    self.say(f"{self.published} published, {self.kills} kills")
            else:
                self.repeats += 1
                self._pause.wait(_AGAIN_S)

    def _break(self, kills: int) -> None:
        """Kill one after the other until both are done; who was killed comes back."""
        chance = random.Random(self.seed)
        while not self._over.wait(chance.uniform(1.0, 4.0)) or self.kills < kills:
            leader = chance.random() < 0.75
            name = chance.choice(LEADERS if leader else EXECUTORS)
            self.crew.kill(name)
            self.faults["kill overlord" if leader else "kill executor"] += 1
            self._over.wait(chance.uniform(0.2, 3.0))
            self.crew.heal()
            self._over.wait(chance.uniform(1.0, 8.0))

    def _judge(self) -> PublishVerdict:
        publications = publications_of(self.url)
        try:
            wait_until(lambda: self._all_ended(len(publications)), self.within_s)
        except AssertionError:
            self.say("not all has ended in time: it is judged as it is")
        topics = TopicsOfTest(self.bootstrap, self.crew.topics)
        try:
            verdict = judge_publishes(publications, topics.read(LogTopic.STATE))
            if dead := topics.read(LogTopic.DEAD):
                verdict.troubles.append(f"{len(dead)} dead letters, the first: {dead[0].headers}")
            return verdict
        finally:
            topics.close()

    def _all_ended(self, count: int) -> bool:
        """Whether each publish has fired, none waits to be named, and nothing runs."""
        if self._trigger(EACH).get("fired") != count or self._trigger(COALESCED).get("waiting"):
            return False
        for state in ("CREATED", "QUEUED", "RUNNING"):
            answer = self.crew.ask("GET", f"/api/v1/executions?state={state}&limit=1")
            if answer is None or answer.json()["executions"]:
                return False
        return True

    def _trigger(self, flow: str) -> dict[str, object]:
        answer = self.crew.ask("GET", f"/api/v1/flows/{flow}/triggers")
        if answer is None:
            return {"waiting": True}
        [trigger] = answer.json()["triggers"]
        return dict(trigger)
