"""One run: a fleet under a stream of records, looked at all the time, disturbed by whoever drives.

    tick() ── who has ended? start again ── who leads? ── is the spec as wanted?
           ── published, read how far? ── every now and then: the oracle

One thread does all of it: a child dies with the thread that started it.
"""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import Protocol

from pydantic import JsonValue

from tests.chaos.judges.books import Books
from tests.chaos.judges.measure import Faults, Reads
from tests.chaos.judges.oracle import Finding, Oracle
from tests.chaos.judges.witness import Witness
from tests.chaos.points import Verb
from tests.chaos.processes.fleet import OVERLORDS, Fleet
from tests.chaos.processes.producer import Stream
from tests.integration.oracle import spec
from tests.waiting import wait_until

SUPERVISORS = "/druid/indexer/v1/supervisor"
_TICK_S = 0.1
_LOOK_EVERY_S = 1.0
_CHECK_EVERY_S = 20.0
_ASK_EVERY_S = 1.0
_START_WITHIN_S = 600.0
_DURATION_S = 8
"""Shorter ranges could end before a batch does, on a machine that is all used up."""


class Arming(Protocol):
    """Who says how a process is started again."""

    def failpoint_for(self, name: str) -> str:
        """Return the failpoint of the next start; empty: none."""

    def ended(self, name: str, code: int | None) -> None:
        """Hear that a process has ended by itself."""


class Unarmed:
    """Starts everything plainly."""

    def failpoint_for(self, name: str) -> str:  # noqa: ARG002 -- the protocol's
        """Return none."""
        return ""

    def ended(self, name: str, code: int | None) -> None:
        """Be told, and do nothing."""


@dataclass
class Run:
    """The parts of one run and what it has seen so far."""

    fleet: Fleet
    books: Books
    stream: Stream
    oracle: Oracle
    bootstrap: str
    topic: str
    say: Callable[[str], None]
    arming: Arming = field(default_factory=Unarmed)
    faults: Faults = field(default_factory=Faults)
    reads: Reads = field(default_factory=Reads)
    witness: Witness = field(default_factory=Witness)
    checks: int = 0
    wished: str = "running"
    """What the spec should be: `running` or `suspended`."""
    verb: Verb | None = None
    """Asked again and again instead of keeping the spec as wished."""
    quiet: bool = True
    """No wire is disturbed, so the oracle can read the topic."""

    def __post_init__(self) -> None:
        """Begin every interval."""
        self._pause = Event()
        self._due: dict[str, float] = {}
        self._durations = 0

    # -- time ------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Look once at everything that is due."""
        self.fleet.look_for_frozen()
        self._start_again()
        if self._is_due("look", _LOOK_EVERY_S):
            self.faults.published(self.books.last_published())
            self.witness.look(self.books)
            self._take_status()
        if self._is_due("ask", _ASK_EVERY_S):
            self._ask()
        if self.quiet and self._is_due("check", _CHECK_EVERY_S):
            self.check()
        self._pause.wait(_TICK_S)

    def go_on(self, seconds: float) -> None:
        """Tick for so long."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.tick()

    def tick_until(self, condition: Callable[[], bool], within_s: float) -> None:
        """Tick until it holds; fail if it does not in time."""

        def holds() -> bool:
            self.tick()
            return condition()

        holds.__qualname__ = condition.__qualname__
        wait_until(holds, within_s)

    def comes(self, condition: Callable[[], bool], within_s: float) -> bool:
        """Tick until it holds, or the time is over; tell which."""
        until = time.monotonic() + within_s
        while not (holds := condition()) and time.monotonic() < until:
            self.tick()
        return holds

    def _is_due(self, what: str, every_s: float) -> bool:
        now = time.monotonic()
        if now < self._due.get(what, 0.0):
            return False
        self._due[what] = now + every_s
        return True

    # -- processes -------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start everything, all but one as it is to be armed; return at the first publication."""
        first, *others = OVERLORDS
        self.fleet.start(first)  # alone: it brings the database to its schema
        wait_until(lambda: self.fleet.serves(first), _START_WITHIN_S)
        for name in (*others, *self.fleet.shape.workers):
            self.fleet.start(name, self.arming.failpoint_for(name))
        self.until_all_serve()
        self.say("all serve; records begin to stream")
        self.stream.start()
        self.tick_until(lambda: self.books.look().publications > 0, _START_WITHIN_S)

    def until_all_serve(self) -> None:
        """Tick until every process answers; one that was killed may be starting."""
        fleet = self.fleet
        self.tick_until(lambda: all(fleet.serves(name) for name in fleet.names), _START_WITHIN_S)

    def kill(self, name: str, kind: str) -> None:
        """End a process as a crash would; `tick` starts it again, also one that had just ended."""
        if name in self.fleet.ended():
            self.tick()
        workers = () if name in OVERLORDS else (name,)
        self.faults.note(kind, name, workers=workers)
        self.fleet.signal(name, signal.SIGKILL)

    def _start_again(self) -> None:
        for name, code in self.fleet.ended().items():
            self.arming.ended(name, code)
            self.witness.has_ended(name)
            if name not in OVERLORDS:
                self.faults.touch(name)
            failpoint = self.arming.failpoint_for(name)
            self.say(f"{name} ended with {code}; starts {failpoint or 'unarmed'}")
            self.fleet.start(name, failpoint)

    def leader(self) -> str | None:
        """Return which overlord leads, by the database; None: nobody, or one that has ended."""
        return self.fleet.leader_of(self.books.leader())

    def follower(self) -> str:
        """Return an overlord that does not lead."""
        leads = self.leader()
        return next(name for name in OVERLORDS if name != leads)

    # -- what users do ---------------------------------------------------------------------------

    def _ask(self) -> None:
        leader = self.leader()
        if leader is None:
            return
        state = self.books.wanted()
        if state in {"unknown", "terminated"}:
            self._post(leader, "", self.spec(_DURATION_S))
        elif self.verb is not None:
            self._ask_verb(leader, self.verb, state)
        elif state != self.wished:
            self._post(leader, f"/{self.topic}/{_TO_BE[self.wished]}")

    def _ask_verb(self, leader: str, verb: Verb, state: str) -> None:
        match verb:
            case Verb.APPLY:
                self._durations += 1
                self._post(leader, "", self.spec(_DURATION_S + self._durations % 2))
            case Verb.SUSPEND:
                word = "suspend" if state == "running" else "resume"
                self._post(leader, f"/{self.topic}/{word}")
            case Verb.TERMINATE:
                self._post(leader, f"/{self.topic}/terminate")

    def _post(self, leader: str, path: str, document: JsonValue = None) -> None:
        answer = self.fleet.ask("POST", leader, f"{SUPERVISORS}{path}", document)
        status = "no answer" if answer is None else answer.status_code
        self.say(f"POST {path or 'spec'} to {leader}: {status}")

    def spec(self, duration_s: int) -> dict[str, JsonValue]:
        """Return the spec of the run: two groups, two replicas, short ranges."""
        return spec(
            self.bootstrap,
            self.topic,
            task_count=2,
            replicas=2,
            task_duration=f"PT{duration_s}S",
        )

    # -- looks -----------------------------------------------------------------------------------

    def status(self) -> dict[str, JsonValue] | None:
        """Return the leader's status payload; None: nobody answers."""
        leader = self.leader()
        if leader is None:
            return None
        answer = self.fleet.ask("GET", leader, f"{SUPERVISORS}/{self.topic}/status")
        if answer is None or not answer.is_success:
            return None
        payload: dict[str, JsonValue] = answer.json()["payload"]
        return payload

    def _take_status(self) -> None:
        if (payload := self.status()) is not None:
            self.reads.take(dict(payload))

    def has_read(self, ends: dict[int, int]) -> bool:
        """Whether committed offsets and tasks together have reached `ends`."""
        reached = dict(self.books.look().committed)
        payload = self.status() or {}
        lists = (payload.get("activeTasks"), payload.get("publishingTasks"))
        for task in (t for tasks in lists if isinstance(tasks, list) for t in tasks):
            assert isinstance(task, dict)
            current = task["currentOffsets"]
            assert isinstance(current, dict)
            for partition, offset in current.items():
                number = int(partition)
                reached[number] = max(reached.get(number, 0), int(str(offset)))
        return all(reached.get(p, 0) >= end for p, end in ends.items())

    def check(self) -> Finding:
        """Ask the oracle about this moment; a finding that is not good ends the run."""
        finding = self.oracle.check(self.books.look(), self.stream.ledger)
        self.checks += 1
        self.say(f"check {self.checks}: {finding}")
        assert finding.good, f"the oracle found {finding}"
        return finding


_TO_BE = {"running": "resume", "suspended": "suspend"}
