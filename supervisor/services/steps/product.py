"""The verbs of the product as a runner calls them: for the owner, once per key, then looked at.

A verb is a few transactions, and none of them can be taken back.  So a call that is cancelled does
not begin; one that has begun goes to its end.  Its runner does not wait for that.  An attempt that
follows has the same key: it waits while the verb still acts, and then finds what the verb has done.
After a kill no attempt follows: what the verb has begun stays, as if the kill had come later.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from threading import Event

from pydantic import JsonValue

from supervisor.core.executions.entities import StepError
from supervisor.core.executions.inputs import Fails, Outcome, Stopped, Succeeded, Waits
from supervisor.core.executions.reduced import StepCall
from supervisor.core.history.operations import OperationKind
from supervisor.core.values.errors import KeyInUse, LeaseLost, SupervisorError, Unavailable
from supervisor.ports.prover import Prover
from supervisor.services.access.ownership import Ownership
from supervisor.services.services import Services
from supervisor.services.steps.arguments import Arguments
from supervisor.services.steps.backfill import BackfillVerb
from supervisor.services.steps.calls import StepVerbs
from supervisor.services.steps.errors import error_of
from supervisor.services.steps.grants import enforce
from supervisor.services.steps.looking import Looks
from supervisor.services.steps.once import OncePerEffect
from supervisor.services.steps.operations import StepOperations
from supervisor.services.steps.owners import FlowOwners
from supervisor.services.steps.supervisor_verbs import (
    ApplyVerb,
    ForgetVerb,
    HandoffVerb,
    ResetVerb,
    VersionVerb,
)
from supervisor.services.steps.table_verbs import CompactVerb, MarkUnusedVerb
from supervisor.services.steps.verb import Begun, ProductVerb, VerbRequest
from supervisor.services.steps.verify import VerifyStepVerb
from supervisor.services.steps.wait_for import WaitForVerb, reads_nothing_first
from supervisor.services.supervisors.proofs import TableProofs

__all__ = ["ProductStep", "StepVerbs", "product_verbs", "verbs_of", "verbs_to_leave"]

_AGAIN: dict[str, JsonValue] = {"again": True}
"""The state of a wait for another attempt with the same key."""


@dataclass(frozen=True)
class ProductStep:
    """One verb; a call of it begins, and a look goes on."""

    name: str
    verb: ProductVerb
    owners: FlowOwners
    tables: Ownership
    once: OncePerEffect
    looks: Looks
    reach: Callable[[str], None] = lambda _: None
    """Called with each named step; a test may end the process there (failpoints)."""
    only_looks: Callable[[VerbRequest], bool] = lambda _: False
    """Whether a call changes nothing, and may begin anew: then no key is kept of it."""

    def __call__(self, call: StepCall, cancel: Event) -> Outcome:
        """Make one call, or one look, unless it is cancelled before it begins."""
        if cancel.is_set():
            return Stopped()
        try:
            if call.check and call.state != _AGAIN:
                return self._look(call.state)
            return self._begin(call)
        except KeyInUse:
            return Waits("an earlier attempt of this step, which still acts", _AGAIN)
        except SupervisorError as error:
            return Fails(error_of(error))

    def _begin(self, call: StepCall) -> Outcome:
        owner, author = self.owners.of(call)
        enforce(owner, self.name, call.arguments, self.tables)
        wanted = VerbRequest(call, Arguments(call.arguments), owner, author)
        if wanted.arguments.flag("dryRun"):
            return Succeeded({**self.verb.foresee(wanted), "dryRun": True})
        if self.only_looks(wanted):
            begun = self.verb.begin(wanted)
        else:
            begun = self.once.act(
                call, lambda: self.verb.begin(wanted), lambda: self.verb.recall(wanted)
            )
        self.reach("step:acted")
        if begun.waits is None:
            return Succeeded(begun.outputs)
        return self._look(_state_of(begun))

    def _look(self, state: JsonValue) -> Outcome:
        """Look once; whoever does not answer now is looked at again."""
        if not isinstance(state, dict):
            return Fails(StepError("internal", "a look without what it waits for"))
        waits, outputs = state["waits"], state["outputs"]
        if not isinstance(waits, dict) or not isinstance(outputs, dict):
            return Fails(StepError("internal", "a look without what it waits for"))
        try:
            outcome = self.looks.look(waits)
        except (Unavailable, LeaseLost) as error:
            return Waits(str(error), state)
        match outcome:
            case Succeeded(more):
                return Succeeded({**outputs, **more})
            case Waits(what, left):
                return Waits(what, {"outputs": outputs, "waits": left})
            case _:
                return outcome


def _state_of(begun: Begun) -> JsonValue:
    return {"outputs": dict(begun.outputs), "waits": dict(begun.waits or {})}


def verbs_of(services: Services) -> Mapping[str, ProductVerb]:
    """Return the verbs that are begun and looked at, by the types of their steps."""
    s = services
    operations = StepOperations(s.store)
    versions = VersionVerb(OperationKind.SUSPEND, s.service, s.foresight, operations)
    return {
        "apply": ApplyVerb(s.service, s.dry_run, operations),
        "suspend": versions,
        "resume": replace(versions, kind=OperationKind.RESUME),
        "terminate": replace(versions, kind=OperationKind.TERMINATE),
        "handoff": HandoffVerb(s.handoffs, s.foresight, operations),
        "reset": ResetVerb(s.resets, s.service, operations),
        "forget": ForgetVerb(s.forgetting, s.table_foresight),
        "markUnused": MarkUnusedVerb(s.segments, s.table_foresight),
        "compact": CompactVerb(s.compacting, s.table_foresight),
        "backfill": BackfillVerb(s.store, s.service, s.sampling.look_at),
        "waitFor": WaitForVerb(s.store, s.service, s.sampling.look_at),
    }


def verbs_to_leave(verbs: StepVerbs) -> Collection[str]:
    """Return the verbs that go to their end once they have begun, cancelled or not."""
    return frozenset(name for name, verb in verbs.items() if isinstance(verb, ProductStep))


def product_verbs(
    services: Services, prover: Prover, reach: Callable[[str], None] = lambda _: None
) -> StepVerbs:
    """Return what a runner calls, by the types of the steps: the verbs, and `verify`."""
    s = services
    asks = s.authentication is not None
    owners = FlowOwners(s.executions.executions, s.store, s.executions.clock, asks)
    looks = Looks(s.store, s.chronicle, s.compacting, s.supervisors)
    tables, once = Ownership(s.store), OncePerEffect(s.keys)
    proofs = TableProofs(s.supervisors, s.tables, prover)
    steps: dict[str, Callable[[StepCall, Event], Outcome]] = {
        name: ProductStep(name, verb, owners, tables, once, looks, reach)
        for name, verb in verbs_of(s).items()
    }
    waits = steps["waitFor"]
    assert isinstance(waits, ProductStep)
    steps["waitFor"] = replace(waits, only_looks=reads_nothing_first)
    return steps | {"verify": VerifyStepVerb(owners, tables, proofs)}
