"""`verify`: the proof of a table as a step; it changes nothing, so a repeat proves anew."""

from dataclasses import dataclass
from threading import Event

from supervisor.core.executions.entities import StepError
from supervisor.core.executions.inputs import Fails, Outcome, Stopped, Succeeded
from supervisor.core.executions.reduced import StepCall
from supervisor.core.values.errors import SupervisorError
from supervisor.ports.prover import ProofFailed, ProofStopped
from supervisor.services.access.ownership import Ownership
from supervisor.services.steps.arguments import Arguments
from supervisor.services.steps.errors import error_of, word_of
from supervisor.services.steps.grants import enforce
from supervisor.services.steps.owners import FlowOwners
from supervisor.services.supervisors.proofs import TableProofs

__all__ = ["VerifyStepVerb"]


@dataclass(frozen=True)
class VerifyStepVerb:
    """Proves in a process of its own; its thread waits for it, and a cancel kills it."""

    owners: FlowOwners
    tables: Ownership
    proofs: TableProofs

    def __call__(self, call: StepCall, cancel: Event) -> Outcome:
        """Return the verdict with its counts; a violation fails the step."""
        try:
            owner, _ = self.owners.of(call)
            enforce(owner, "verify", call.arguments, self.tables)
            given = Arguments(call.arguments)
            proof = self.proofs.prove(
                given.text("supervisor"), cancel, call.grace, strict=given.flag("strict")
            )
        except ProofStopped:
            return Stopped()
        except ProofFailed as failed:
            code = word_of(failed.code)
            return Fails(StepError(code, str(failed), passes=failed.passes))
        except SupervisorError as error:
            return Fails(error_of(error))
        if not proof.proven:
            return Fails(StepError("not-proven", proof.summary))
        return Succeeded({**proof.numbers, "summary": proof.summary})
