"""Verbs whose outputs may be large: they are kept apart, and later steps get them as they were.

    call ─► arguments: each reference becomes its content ─► the verb ─► outputs over the bound:
            the largest become artifacts, and the report has references in their places

An artifact is stored before its report, so that a record never names what is not there.  A call
whose artifact cannot be stored yet waits with its report: what was done is not done again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from threading import Event
from typing import TypeVar

import structlog
from pydantic import JsonValue

from supervisor.core.executions.entities import StepError
from supervisor.core.executions.inputs import Fails, Outcome, Stopped, Succeeded
from supervisor.core.executions.reduced import StepCall
from supervisor.core.flows.artifacts import (
    ARTIFACT_BYTES_MAX,
    EXECUTION_BYTES_MAX,
    INLINE_BYTES_MAX,
    Artifact,
    artifact_of,
    json_size,
    reference_of,
    references_in,
)
from supervisor.executions.hidden import hidden
from supervisor.executions.runner import StepVerb
from supervisor.ports.flows.artifacts import ArtifactsFull, ArtifactStore
from supervisor.ports.store_problems import StoreAway, StoreRefuses

__all__ = ["LargeOutputs", "with_artifacts"]

log = structlog.get_logger()

T = TypeVar("T")

_AGAIN_S, _AGAIN_MAX_S = 0.2, 5.0


def with_artifacts(
    verbs: Mapping[str, StepVerb], store: ArtifactStore, inline_max: int = INLINE_BYTES_MAX
) -> dict[str, StepVerb]:
    """Return verbs whose large outputs are kept apart."""
    return {name: LargeOutputs(verb, store, inline_max) for name, verb in verbs.items()}


class _Ends(Exception):
    """The call ends with this outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


@dataclass(frozen=True)
class LargeOutputs:
    """A verb around another; safe to use from many threads."""

    verb: StepVerb
    store: ArtifactStore
    inline_max: int = INLINE_BYTES_MAX

    def __call__(self, call: StepCall, cancel: Event) -> Outcome:
        """Make the call with what its references refer to, and keep its outputs."""
        try:
            outcome = hidden(self.verb(self._filled(call, cancel), cancel))
            if isinstance(outcome, Succeeded) and outcome.outputs:
                return self._kept(call, outcome, cancel)
        except _Ends as end:
            return end.outcome
        return outcome

    def _filled(self, call: StepCall, cancel: Event) -> StepCall:
        """Return a call with the contents of its references."""
        size = sum(ref.bytes for ref in references_in(call.arguments))
        if not size:
            return call
        if size > ARTIFACT_BYTES_MAX:
            why = f"its arguments have {size:,} bytes, of {ARTIFACT_BYTES_MAX:,} at most"
            raise _Ends(Fails(StepError("arguments-too-large", why)))

        def fill() -> StepCall:
            arguments = {name: self._content(each) for name, each in call.arguments.items()}
            return replace(call, arguments=arguments)

        return _patiently(call, cancel, fill)

    def _content(self, value: JsonValue) -> JsonValue:
        ref = reference_of(value)
        if ref is not None:
            artifact = self.store.get(ref.id)
            if artifact is None:
                why = f"the artifact {ref.id} is not there any more: its execution is deleted"
                raise _Ends(Fails(StepError("artifact-gone", why)))
            return artifact.value
        match value:
            case list():
                return [self._content(each) for each in value]
            case dict():
                return {name: self._content(each) for name, each in value.items()}
            case _:
                return value

    def _kept(self, call: StepCall, outcome: Succeeded, cancel: Event) -> Outcome:
        """Store the largest outputs, until the others are small enough."""
        size = json_size(outcome.outputs)
        if size <= self.inline_max:
            return outcome
        outputs = dict(outcome.outputs)
        sizes = {name: json_size(value) for name, value in outputs.items()}
        for name in sorted(sizes, key=lambda each: (-sizes[each], each)):
            artifact = artifact_of(call.run, call.attempt, outputs[name])
            short = json_size(artifact.ref.value)
            if size <= self.inline_max or short >= sizes[name]:
                break
            self._put(call, name, artifact, cancel)
            outputs[name] = artifact.ref.value
            size += short - sizes[name]
        if size > self.inline_max:
            return _too_large(f"its outputs have {size:,} bytes, of {self.inline_max:,} at most")
        return Succeeded(outputs)

    def _put(self, call: StepCall, name: str, artifact: Artifact, cancel: Event) -> None:
        size = artifact.ref.bytes
        if size > ARTIFACT_BYTES_MAX:
            why = f"the output {name} has {size:,} bytes, of {ARTIFACT_BYTES_MAX:,} at most"
            raise _Ends(_too_large(why))
        try:
            _patiently(call, cancel, lambda: self.store.put(call.execution, artifact))
        except ArtifactsFull:
            why = (
                f"with the output {name} its execution has more than {EXECUTION_BYTES_MAX:,} bytes"
            )
            raise _Ends(_too_large(why)) from None


def _too_large(why: str) -> Fails:
    """Return the end of a call that was made, and whose outputs nobody can have."""
    return Fails(StepError("output-too-large", why, known=False))


def _patiently(call: StepCall, cancel: Event, act: Callable[[], T]) -> T:
    """Return what the store gives, as soon as it is there, or end the call if it is cancelled."""
    pause_s = _AGAIN_S
    while True:
        try:
            return act()
        except (StoreAway, StoreRefuses) as error:
            log.warning("a step waits for the store of artifacts", step=call.step, why=str(error))
        if cancel.wait(pause_s):
            raise _Ends(Stopped())
        pause_s = min(pause_s * 2, _AGAIN_MAX_S)
