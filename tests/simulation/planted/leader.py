"""Faults of authority: terms, leases, orders."""

from typing import Any

from sqlalchemy import update

from supervisor.control.leadership import Leadership
from supervisor.metadata.repositories import lease
from supervisor.metadata.repositories.generations import SqlGenerations
from supervisor.metadata.repositories.workers import SqlWorkers
from supervisor.metadata.schema.tables import generations
from supervisor.services.supervisors.specs import Service
from tasks.contract.messages import Order, RunState, SyncResponse, TaskPhase
from tasks.contract.offsets import furthest
from tests.simulation.planted.patches import Function, Mutant, Patches


def no_term_fence(patches: Patches) -> None:
    patches.function(lease, "require_term", lambda _: lambda *_: None)


def renewal_in_the_work_loop(patches: Patches) -> None:
    def start(self: Leadership, on_lead: Any, *_: Any) -> None:  # noqa: ANN401
        self._on_lead = on_lead  # and `step` is left to whoever finds the time

    patches.method(Leadership, "start", lambda _: start)


def lease_without_waiting(patches: Patches) -> None:
    def make(take: Function) -> object:
        def greedy(self: Leadership) -> None:
            ttl, self._ttl_s = self._ttl_s, 0.0
            try:
                take(self)
            finally:
                self._ttl_s = ttl

        return greedy

    patches.method(Leadership, "_try_to_take", make)


def acts_to_the_last(patches: Patches) -> None:
    patches.method(Leadership, "_is_fresh", lambda _: lambda *_: True)


def starts_behind_a_registration(patches: Patches) -> None:
    patches.method(SqlWorkers, "holds", lambda _: lambda *_, **__: True)


def end_sent_before_it_is_persisted(patches: Patches) -> None:
    def make(sync: Function) -> object:
        def early(self: Service, request: Any) -> SyncResponse:  # noqa: ANN401
            answer: SyncResponse = sync(self, request)
            reports = {t: r for w in self._registry.views() for t, r in w.reports.items()}
            tasks = []
            for task in answer.tasks:
                mine = [
                    r.position
                    for r in reports.values()
                    if r.phase is TaskPhase.PAUSED and r.position.keys() == task.start.keys()
                ]
                order = task.order
                if order.state is RunState.PAUSE and mine and furthest(mine) != task.start:
                    end = furthest(mine)
                    order = Order(
                        term=order.term, sequence=order.sequence + 1, state=RunState.RUN, end=end
                    )
                tasks.append(task.model_copy(update={"order": order}))
            return answer.model_copy(update={"tasks": tuple(tasks)})

        return early

    patches.method(Service, "sync", make)


def lapse_forgotten(patches: Patches) -> None:
    def make(renew: Function) -> object:
        def goes_on(self: Leadership, term: int) -> None:
            since = self._led_since
            renew(self, term)
            self._led_since = since

        return goes_on

    patches.method(Leadership, "_renew", make)


def resumed_without_an_order(patches: Patches) -> None:
    def make(resume: Function) -> object:
        def quiet(self: SqlGenerations, generation_id: str, sequence: int, **more: Any) -> object:  # noqa: ANN401
            done = resume(self, generation_id, sequence, **more)
            if done:
                self._db.execute(
                    update(generations)
                    .where(generations.c.id == generation_id)
                    .values(sequence=sequence)
                )
            return done

        return quiet

    patches.method(SqlGenerations, "resume", make)


_LEASE = "tests/supervisor/control/test_leadership.py::"

MUTANTS = (
    Mutant(
        "starts-behind-a-registration",
        "P7",
        "a task begins for an incarnation of its worker that has just been replaced",
        starts_behind_a_registration,
        covered_by="rare: a worker has to register during a start, and then to live to the end of "
        "the faults; its next registration takes the task up",
        direct="tests/supervisor/scenarios/test_start_race.py"
        "::test_no_task_starts_for_an_incarnation_that_is_not_the_newest",
    ),
    Mutant("no-term-fence", "P1, R8, M5", "a deposed leader writes on", no_term_fence),
    Mutant(
        "renewal-in-the-work-loop",
        "R8, D4, M3",
        "the lease is renewed by whoever makes the passes, when they find the time",
        renewal_in_the_work_loop,
        covered_by="the simulated overlord steps the lease by an event of its own",
        direct=f"{_LEASE}test_the_lease_is_renewed_by_a_thread_of_its_own",
    ),
    Mutant(
        "lease-without-waiting",
        "P2",
        "a candidate takes the lease as soon as it sees it",
        lease_without_waiting,
        covered_by="P1: whoever was deposed writes nothing; only turns are lost",
        direct=f"{_LEASE}test_a_candidate_takes_over_one_ttl_after_the_last_sign_of_life",
    ),
    Mutant(
        "acts-to-the-last",
        "P2",
        "a holder that could not renew acts until somebody tells it",
        acts_to_the_last,
        covered_by="P1: its writes are refused",
        direct=f"{_LEASE}test_a_holder_acts_for_two_thirds_of_a_ttl",
    ),
    Mutant(
        "lapse-forgotten",
        "P6, F1",
        "after a lapse of the lease every worker that was not heard meanwhile counts as lost",
        lapse_forgotten,
    ),
    Mutant(
        "end-told-before-it-is-persisted",
        "R1, P13, M10",
        "replicas hear the end before the record has it",
        end_sent_before_it_is_persisted,
    ),
    Mutant(
        "resumed-without-an-order",
        "P5",
        "a pause is taken back without a higher order",
        resumed_without_an_order,
    ),
)
