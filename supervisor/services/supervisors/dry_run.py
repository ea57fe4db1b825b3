"""The dry run of a posted spec: judged by the same rules, but nothing is stored or woken.

document ─► read, operator's policy ─► the stored version ─► its topics ─► verdict
               └ refused: nothing connects
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from supervisor.control.leadership import Leadership
from supervisor.control.tables import name_taken
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.planning.dry_run import DryRunOutcome, Probed
from supervisor.core.planning.placement import layout, slots_for, too_few_slots
from supervisor.core.planning.preconditions import WHATEVER, Expected, is_ended
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import InvalidSpec, SourceUnreadable
from supervisor.ports.store import Store
from supervisor.services.access.ownership import Allowed, allowed_before, everything
from supervisor.services.foresight.leaders_view import leaders_view
from supervisor.services.supervisors.admission import with_mixed_types
from supervisor.services.supervisors.specs import Service


@dataclass(frozen=True)
class DryRun:
    """Judges specs without storing them; one instance per process."""

    store: Store
    leadership: Leadership
    service: Service
    look: Callable[[SupervisorSpec], Probed]
    """Looks at the topics of a spec, for some seconds at most; raises SourceUnreadable."""
    registry: WorkerRegistry

    def judge(
        self,
        document: object,
        *,
        connect: bool = True,
        expected: Expected = WHATEVER,
        allowed: Allowed = everything,
    ) -> DryRunOutcome:
        """Predict the result of posting `document`; with `connect` its topics are looked at.

        Raises:
            LeaseLost: this overlord does not lead.
            NotAllowed: the caller may not apply the spec.
            PreconditionFailed: the stored version is not as `expected`.
            TooManyLooks: too many looks at topics run already.
        """
        verdict = self._judged(document, expected, allowed)
        if verdict.spec is None or not connect:
            return verdict
        try:
            seen = self.look(verdict.spec)
        except SourceUnreadable as error:
            return replace(verdict, trouble=str(error))
        few = self._too_few_slots(verdict.spec, seen)
        return replace(verdict, seen=seen, warnings=(*verdict.warnings, *few))

    def _too_few_slots(self, spec: SupervisorSpec, seen: Probed) -> list[str]:
        """Return a warning if workers take tasks, and fewer than the spec asks for."""
        able = [worker for worker in self.registry.views() if worker.takes_tasks]
        if not able or spec.suspended:
            return []  # without any worker nothing runs, whatever the spec says
        with self.store.reading() as tx:
            used = tx.tasks.slots_in_use()
            ranges, tasks = tx.generations.live(spec.id), tx.tasks.active(spec.id)
        busy = [replace(worker, used_slots=used.get(worker.id, 0)) for worker in able]
        slots = slots_for(busy, ranges, tasks)
        config = spec.io_config
        groups = layout(seen.latest, config.task_count, several_topics=config.topic is None)
        few = too_few_slots(len(groups), config.replicas, slots)
        return [few] if few else []

    def _judged(self, document: object, expected: Expected, allowed: Allowed) -> DryRunOutcome:
        self.leadership.term()
        try:
            read = self.service.read(document, allowed)
        except InvalidSpec as error:
            return DryRunOutcome(errors=error.errors)
        spec = read.spec
        with leaders_view(self.store, self.leadership) as tx:
            newest = tx.specs.newest_stored(spec.id)
            read = with_mixed_types(tx, newest, read)
            allowed_before(tx, spec.id, allowed)
            expected.check(spec.id, newest)
            exists = newest is not None and not is_ended(newest)
            outcome = DryRunOutcome(warnings=read.warnings, spec=spec, exists=exists)
            if taken := name_taken(tx, spec):
                return replace(outcome, errors=tuple(taken))
            try:
                return replace(outcome, impact=self.service.impact(tx, newest, spec))
            except InvalidSpec as error:
                return replace(outcome, errors=error.errors)
