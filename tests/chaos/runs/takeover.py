"""D2: a leader sleeps in the middle of a transaction, another one leads, and the first goes on.

    follower ── started anew, armed ──► leads ── SIGSTOP at its point ──► asleep
    the other ── takes over, term + 1 ──► fixes the end, publishes ◄── SIGCONT ── asleep

PostgreSQL ends the session of the one that sleeps, so that its transaction never was.  It goes on
at once when another one leads, or when that one has published: each in about half of all cases.
"""

from dataclasses import dataclass
from random import Random

import httpx

from tests.chaos.points import Point
from tests.chaos.processes.fleet import OVERLORDS
from tests.chaos.runs.run import Run, Unarmed

_SERVES_WITHIN_S = 120.0
_SLEEPS_WITHIN_S = 90.0
_TAKEN_WITHIN_S = 60.0
_PUBLISHED_WITHIN_S = 180.0
_STEPPED_DOWN_WITHIN_S = 30.0
_LEADS = "/druid/indexer/v1/isLeader"


@dataclass
class Once:
    """Arms one start of one process."""

    name: str
    failpoint: str

    def failpoint_for(self, name: str) -> str:
        """Return the failpoint at the first start of that process."""
        if name != self.name or not self.failpoint:
            return ""
        failpoint, self.failpoint = self.failpoint, ""
        return failpoint

    def ended(self, name: str, code: int | None) -> None:
        """Be told, and do nothing."""


class Takeover:
    """Lets leaders sleep at a point; `findings` says what was wrong then."""

    def __init__(self, run: Run, seed: int) -> None:
        """Stop nobody yet."""
        self._run = run
        self._chance = Random(seed)
        self.findings: list[str] = []

    def happens_at(self, point: Point) -> bool:
        """Let it happen once; False: the leader did not come to the point, or nobody took over.

        A leader that was followed before its sleep was seen does not count: of which term it was
        is not known.
        """
        run = self._run
        name = self._sleeper(point)
        if name is None:
            return False
        run.faults.note(point.row, name)
        term, ranges = run.books.term(), run.books.pausing() | run.books.publishing()
        if run.leader() not in {name, None}:
            run.say(f"{name} sleeps at {point.name}, and was followed before that was seen")
            run.fleet.thaw(name)
            return False
        run.say(f"{name} sleeps at {point.name} in term {term}")
        taken = run.comes(lambda: run.books.term() > term, _TAKEN_WITHIN_S)
        if taken and self._chance.random() < 0.5:
            self._wait_for_a_publication()
        run.say(f"{name} goes on; the term is {run.books.term()}")
        run.fleet.thaw(name)
        if not taken:
            self.findings.append(f"{point.name}: nobody took over within {_TAKEN_WITHIN_S} s")
            return False
        if not run.comes(lambda: self._follows(name), _STEPPED_DOWN_WITHIN_S):
            self.findings.append(f"{point.name}: {name} went on, and did not step down")
        self._wait_for_a_publication()
        self.findings += self._wrong(point, term, ranges)
        return True

    def _sleeper(self, point: Point) -> str | None:
        """Let an armed follower lead until it sleeps, and return it; None: it did not."""
        run = self._run
        run.tick_until(lambda: run.leader() is not None, _SERVES_WITHIN_S)
        leader, name = run.leader(), run.follower()
        run.arming = armed = Once(name, point.failpoint)
        run.kill(name, "kill")
        run.tick_until(lambda: not armed.failpoint and run.fleet.serves(name), _SERVES_WITHIN_S)
        run.kill(leader or OVERLORDS[0], "kill")
        slept = run.comes(lambda: name in run.fleet.frozen, _SLEEPS_WITHIN_S)
        run.arming = Unarmed()
        if slept:
            return name
        run.kill(name, "kill")  # it must not sleep later, when nobody waits for it
        return None

    def _follows(self, name: str) -> bool:
        answer = self._run.fleet.ask("GET", name, _LEADS)
        return answer is not None and answer.status_code == httpx.codes.NOT_FOUND

    def _wait_for_a_publication(self) -> None:
        run, known = self._run, self._run.books.look().publications
        run.tick_until(lambda: run.books.look().publications > known, _PUBLISHED_WITHIN_S)

    def _wrong(self, point: Point, term: int, ranges: frozenset[str]) -> list[str]:
        """Return what is not as it must be after it: one more term, one end for each range."""
        run = self._run
        run.comes(lambda: not ranges & run.books.pausing(), _PUBLISHED_WITHIN_S)
        wrong = []
        if (now := run.books.term()) != term + 1:
            wrong.append(f"{point.name}: term {term} became {now}")
        fixed = [event.generation for event in run.books.events("generation-end-fixed")]
        counts = {g: fixed.count(g) for g in ranges}
        return wrong + [
            f"{point.name}: {n} ends were fixed for {g}" for g, n in counts.items() if n != 1
        ]
