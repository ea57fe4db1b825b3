"""Idempotency keys: whatever crashes and whoever is late, what a key stands for is done once."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from supervisor.adapters.manual_clock import ManualClock
from supervisor.core.model.rows import AuditEntry
from supervisor.core.values.errors import (
    AnswerLost,
    KeyInUse,
    KeyReused,
    KeyTakenOver,
    MetadataBusy,
)
from supervisor.core.values.idempotency import KEPT, RUNS, KeyClaim, StoredAnswer
from supervisor.ports.store import ActingStore
from supervisor.services.access.idempotency import Idempotency, KeyedRequest
from tests.conformance.stories import NOON, Leader, take_lease

REQUEST = KeyedRequest("ann", "key-1", "digest")
ANSWER = StoredAnswer(200, {"etag": '"1-a"'}, b'{"id":"clicks"}\x00\xff')
AT_ONCE = 20


@dataclass
class Office:
    """Keys, and an action that leaves a row in the audit log."""

    store: ActingStore
    clock: ManualClock
    term: int

    @property
    def keys(self) -> Idempotency:
        """The keys under the present term."""
        return Idempotency(self.store, self.clock, lambda: self.term)

    def acts(self, claim: KeyClaim, *, fails: bool = False) -> None:
        """Do something in a transaction of its own."""
        with self.keys.acting_for(claim), self.store.leading(self.term) as tx:
            tx.audit.write(AuditEntry(NOON, "ann", "act", "clicks"))
            if fails:
                raise ZeroDivisionError

    def begins(self, request: KeyedRequest = REQUEST) -> KeyClaim:
        """Begin; it has to be free."""
        begun = self.keys.begin(request)
        assert isinstance(begun, KeyClaim)
        return begun

    def done(self) -> int:
        """How often the action was carried out."""
        with self.store.reading() as tx:
            return len(tx.audit.recent(100))

    def crashes(self) -> None:
        """Another process takes the lead."""
        self.term = take_lease(self.store, f"after {self.term}")


@pytest.fixture
def office(leader: Leader) -> Office:
    """Nothing was asked yet."""
    return Office(leader.store, ManualClock(NOON), leader.term)  # type: ignore[arg-type]  # each is one


def test_a_repeat_hears_the_first_answer(office: Office) -> None:
    claim = office.begins()
    office.acts(claim)
    office.keys.end(claim, ANSWER)
    office.crashes()

    assert office.keys.begin(REQUEST) == ANSWER
    assert office.done() == 1


def test_keys_belong_to_their_caller_and_to_one_request(office: Office) -> None:
    office.keys.end(office.begins(), ANSWER)

    with pytest.raises(KeyReused, match="key of its own"):
        office.keys.begin(KeyedRequest("ann", "key-1", "another"))
    office.begins(KeyedRequest("bob", "key-1", "digest"))


def test_while_it_runs_a_repeat_waits(office: Office) -> None:
    claim = office.begins()
    with pytest.raises(KeyInUse):
        office.keys.begin(REQUEST)
    office.acts(claim)
    with pytest.raises(KeyInUse):
        office.keys.begin(REQUEST)


def test_a_crash_before_the_action_leaves_the_key_to_the_repeat(office: Office) -> None:
    office.begins()
    office.crashes()

    office.acts(office.begins())

    assert office.done() == 1


def test_a_crash_after_the_action_is_told_and_nothing_is_done_twice(office: Office) -> None:
    office.acts(office.begins())
    office.crashes()

    with pytest.raises(AnswerLost, match="was carried out"):
        office.keys.begin(REQUEST)
    assert office.done() == 1


def test_an_action_whose_key_was_taken_over_is_refused(office: Office) -> None:
    """Goal: a request that hangs, and goes on after a repeat has begun in its place."""
    slow = office.begins()
    office.clock.advance(RUNS)
    office.acts(office.begins())

    with pytest.raises(KeyTakenOver):
        office.acts(slow)
    office.keys.end(slow, ANSWER)

    assert office.done() == 1
    with pytest.raises(KeyInUse):
        office.keys.begin(REQUEST)


def test_what_failed_leaves_no_trace_unless_it_has_acted(office: Office) -> None:
    office.keys.end(office.begins(), None)
    claim = office.begins()
    office.acts(claim)
    office.keys.end(claim, None)
    office.clock.advance(RUNS)

    with pytest.raises(AnswerLost):
        office.keys.begin(REQUEST)


def test_an_action_that_was_rolled_back_has_not_acted(office: Office) -> None:
    claim = office.begins()
    with pytest.raises(ZeroDivisionError):
        office.acts(claim, fails=True)
    office.keys.end(claim, None)

    office.acts(office.begins())
    assert office.done() == 1


def test_an_action_may_take_several_transactions(office: Office) -> None:
    claim = office.begins()
    office.acts(claim)
    office.acts(claim)
    office.keys.end(claim, ANSWER)

    assert office.keys.begin(REQUEST) == ANSWER


def test_after_a_day_a_key_is_forgotten(office: Office) -> None:
    office.keys.end(office.begins(), ANSWER)
    office.clock.advance(KEPT)
    assert office.keys.begin(REQUEST) == ANSWER

    office.clock.advance(timedelta(seconds=1))
    office.begins()


def test_of_one_caller_the_newest_keys_are_kept(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a caller who sends many takes no key from another."""
    monkeypatch.setattr("supervisor.metadata.repositories.idempotency.KEPT_OF_ONE", 3)
    other = replace(REQUEST, caller="bob")
    for request in (other, *(replace(REQUEST, key=f"key-{n}") for n in range(5))):
        office.keys.end(office.begins(request), ANSWER)

    assert office.keys.begin(other) == ANSWER
    assert office.keys.begin(replace(REQUEST, key="key-4")) == ANSWER
    office.begins(replace(REQUEST, key="key-0"))


def test_of_many_at_once_one_acts(office: Office) -> None:
    gate = threading.Barrier(AT_ONCE)

    def one(_: int) -> str:
        gate.wait(60)
        for _ in range(AT_ONCE):
            try:
                claim = office.keys.begin(REQUEST)
            except MetadataBusy:
                continue
            except KeyInUse:
                return "in use"
            if isinstance(claim, StoredAnswer):
                return "replayed"
            office.acts(claim)
            office.keys.end(claim, ANSWER)
            return "acted"
        return "busy"

    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = Counter(pool.map(one, range(AT_ONCE)))

    assert outcomes["acted"] == 1
    assert outcomes["busy"] == 0
    assert office.done() == 1
