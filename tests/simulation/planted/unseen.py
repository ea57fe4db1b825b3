"""Faults of guards that the simulated world does not meet: a test of each guard finds them."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import select

from supervisor.control.leadership import Leadership
from supervisor.core.model.rows import Lease
from supervisor.core.planning import publish
from supervisor.core.planning.actions import FixEnd
from supervisor.core.planning.publish import Judgement, PublishFacts
from supervisor.eventqueue.handling import Handled, nothing
from supervisor.eventqueue.processor import EventProcessor
from supervisor.metadata.repositories.generations import SqlGenerations
from supervisor.metadata.repositories.lease import SqlLease
from supervisor.metadata.schema.tables import generations
from supervisor.services.supervisors.specs import Service
from tasks.contract.messages import PublishRequest, SyncRequest
from tasks.machine import machine
from tasks.machine.state import ReadWork, TaskState
from tasks.ports import JournalEntry
from tests.simulation.planted.patches import Function, Mutant, Patches


def term_of_the_row(patches: Patches) -> None:
    def term(self: Leadership) -> int:
        with self._store.reading() as tx:
            lease = tx.lease.read()
        assert lease is not None
        return lease.term

    patches.method(Leadership, "term", lambda _: term)


def registered_without_a_term(patches: Patches) -> None:
    def make(register: Function) -> object:
        def by_anybody(self: Service, request: SyncRequest, term: int) -> None:
            store = self._store

            class Unfenced:
                """Writes as a registration would that does not look at its term."""

                def leading(self, _: int) -> object:
                    return store.writing()

                def __getattr__(self, name: str) -> Any:  # noqa: ANN401
                    return getattr(store, name)

            self._store = Unfenced()  # type: ignore[assignment]  # a store but for its fence
            try:
                register(self, request, term)
            finally:
                self._store = store

        return by_anybody

    patches.method(Service, "_register", make)


def another_range_accepted(patches: Patches) -> None:
    def make(read: Function) -> object:
        def anything(state: TaskState, entry: JournalEntry, now: float) -> object:
            assert isinstance(state.busy, ReadWork)
            work = replace(state.busy, number=entry.number, start=entry.start, end=entry.end)
            return read(replace(state, busy=work), entry, now)

        return anything

    patches.function(machine, "_batch_read", make)


def first_topic_alone(patches: Patches) -> None:
    def make(judge: Function) -> object:
        def short(facts: PublishFacts, request: PublishRequest) -> Judgement:
            first = min(p.topic for p in request.start)
            committed = {
                p: row
                if p.topic == first or p.topic not in request.topic_ids
                else replace(row, topic_id=request.topic_ids[p.topic])
                for p, row in facts.committed.items()
            }
            judged: Judgement = judge(replace(facts, committed=committed), request)
            return judged

        return short

    patches.function(publish, "judge", make)


def end_fixed_whatever_the_sequence(patches: Patches) -> None:
    def make(fix: Function) -> object:
        def careless(self: SqlGenerations, action: FixEnd, now: datetime) -> object:
            mine = generations.c.id == action.generation_id
            sequence = self._db.execute(select(generations.c.sequence).where(mine)).scalar_one()
            return fix(self, replace(action, expected_sequence=sequence), now)

        return careless

    patches.method(SqlGenerations, "fix_end", make)


def lease_taken_though_renewed(patches: Patches) -> None:
    def make(take: Function) -> object:
        def deaf(self: SqlLease, seen: Lease | None, holder: str, url: str) -> object:
            present = self.read()
            if seen is not None and present is not None and present.term == seen.term:
                seen = replace(seen, renewals=present.renewals)
            return take(self, seen, holder, url)

        return deaf

    patches.method(SqlLease, "take", make)


def write_of_its_own(patches: Patches) -> None:
    def make(advance: Function) -> object:
        def apart(
            self: EventProcessor,
            row: Any,  # noqa: ANN401
            settlement: Any,  # noqa: ANN401
            handled: Handled,
            term: int,
        ) -> None:
            with self._kit.store.leading(term) as tx:
                handled.write(tx)
            advance(self, row, settlement, Handled(handled.answers, nothing), term)

        return apart

    patches.method(EventProcessor, "_advance", make)


_SKEW = "tests/conformance/metadata/test_write_skew.py::"
_NOBODY = "the simulated world does not meet it"

MUTANTS = (
    Mutant(
        "term-of-the-row",
        "P1",
        "a leader writes under whatever term the row has",
        term_of_the_row,
        covered_by="an overlord of the simulation knows that it was deposed before it writes",
        direct=f"{_SKEW}test_each_write_of_a_leader_that_does_not_know_of_its_end_is_refused",
    ),
    Mutant(
        "registered-without-a-term",
        "P1, P7",
        "a worker is registered by an overlord that leads no more",
        registered_without_a_term,
        covered_by="the next leader registers it anew",
        direct=f"{_SKEW}test_each_write_of_a_leader_that_does_not_know_of_its_end_is_refused",
    ),
    Mutant(
        "another-range-accepted",
        "P21",
        "a batch of another range is journaled",
        another_range_accepted,
        covered_by=_NOBODY,
        direct="tests/tasks/machine/test_machine.py"
        "::test_a_batch_that_comes_back_with_another_range_fails_the_task",
    ),
    Mutant(
        "first-topic-alone",
        "P11, P22",
        "of several topics the judge compares the id of the first",
        first_topic_alone,
        covered_by="a simulated supervisor reads one topic",
        direct="tests/supervisor/core/planning/test_publish.py"
        "::test_the_id_of_each_topic_is_compared",
    ),
    Mutant(
        "end-fixed-whatever-the-sequence",
        "P13",
        "the end of a range is fixed by an order that was overtaken",
        end_fixed_whatever_the_sequence,
        covered_by="passes of one supervisor come one after the other",
        direct="tests/conformance/test_handoff.py::test_an_end_of_an_overtaken_order_is_not_fixed",
    ),
    Mutant(
        "lease-taken-though-renewed",
        "P2",
        "a candidate takes a lease that was renewed since it looked",
        lease_taken_though_renewed,
        covered_by="P1: whoever was deposed writes nothing; only turns are lost",
        direct="tests/conformance/test_lease.py"
        "::test_a_lease_that_was_renewed_meanwhile_is_not_taken",
    ),
    Mutant(
        "write-of-its-own",
        "P24",
        "what an event handler writes has a transaction of its own",
        write_of_its_own,
        covered_by="handlers of the simulation may repeat their writes",
        direct="tests/supervisor/eventqueue/test_answers.py"
        "::test_what_a_handler_writes_with_the_position_happens_once",
    ),
)
