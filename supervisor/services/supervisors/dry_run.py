"""What a POST of a spec would do, without doing it: nothing is stored, nothing is woken.

document ─► read, what the operator allows ─► the stored version ─► its topics ─► verdict
               └ refused: nothing connects
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from supervisor.control.foresee import with_mixed_types
from supervisor.control.tables import name_taken
from supervisor.control.wakeups import Wakeups
from supervisor.core.planning.dry_run import Probed, Verdict
from supervisor.core.planning.preconditions import WHATEVER, Expected
from supervisor.core.planning.restarts import describe_impact, restarts_of
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import InvalidSpec
from supervisor.ports.store import Clock, Store, Workers
from supervisor.ports.topic_probe import Probe, SourceUnreadable
from supervisor.services.access.ownership import Allowed, allowed_before, everything
from supervisor.services.supervisors.admission import changes_to, is_ended
from supervisor.services.supervisors.sampler import SampleRequests
from supervisor.services.supervisors.specs import Service, new_token


@dataclass(frozen=True)
class DryRun:
    """Judges specs by the rules of a POST; one instance per process."""

    store: Store
    service: Service
    look: Callable[[SupervisorSpec], Probed]
    """Looks at the topics of a spec, within some seconds; raises SourceUnreadable."""

    def judge(
        self,
        document: object,
        *,
        connect: bool = True,
        expected: Expected = WHATEVER,
        allowed: Allowed = everything,
    ) -> Verdict:
        """Return what a POST of `document` would do; with `connect` its topics are looked at.

        Raises:
            LeaseLost: this overlord does not lead.
            NotAllowed: the caller may not apply it.
            PreconditionFailed: the stored version is not as `expected`.
            TooManyLooks: others look at topics already.
        """
        verdict = self._judged(document, expected, allowed)
        if verdict.spec is None or not connect:
            return verdict
        try:
            return replace(verdict, seen=self.look(verdict.spec))
        except SourceUnreadable as error:
            return replace(verdict, trouble=str(error))

    def _judged(self, document: object, expected: Expected, allowed: Allowed) -> Verdict:
        self.service.require_leader()
        try:
            read = self.service.read(document, allowed)
        except InvalidSpec as error:
            return Verdict(errors=error.errors)
        spec = read.spec
        with self.store.reading() as tx:
            newest = tx.specs.newest_stored(spec.id)
            ranges = self.service.foresee(tx, newest, spec)
            read = with_mixed_types(tx, newest, read)
            allowed_before(tx, spec.id, allowed)
            taken = name_taken(tx, spec)
        expected.check(spec.id, newest)
        exists = newest is not None and not is_ended(newest)
        found = Verdict(warnings=read.warnings, spec=spec, exists=exists)
        if taken:
            return replace(found, errors=tuple(taken))
        try:
            changes = changes_to(newest, spec)
        except InvalidSpec as error:
            return replace(found, errors=error.errors)
        told = describe_impact(changes, ranges, exists=exists, suspended=spec.suspended)
        return replace(found, changes=changes, restarts=restarts_of(changes, ranges), summary=told)


@dataclass(frozen=True)
class Looking:
    """What looks at topics for whoever asks; one instance per process."""

    sampling: SampleRequests
    dry_run: DryRun

    @classmethod
    def of(
        cls,
        store: Store,
        clock: Clock,
        service: Service,
        workers: Workers,
        *,
        changed: Wakeups,
        probe: Probe,
    ) -> "Looking":
        """Wire both; nothing connects yet."""
        sampling = SampleRequests(
            clock=clock,
            term=service.require_leader,
            workers=workers,
            probe=probe,
            check=service.check,
            changed=changed,
            new_token=new_token,
        )
        return cls(sampling, DryRun(store, service, sampling.look))
