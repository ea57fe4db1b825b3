"""The operations that steps begin: their outputs, how they are waited for and found again."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import JsonValue

from supervisor.core.history.operations import Operation
from supervisor.ports.store import Store
from supervisor.services.steps.verb import Begun, VerbRequest

__all__ = ["SEARCHED", "StepOperations"]

SEARCHED = 1_000
"""Newest operations of a supervisor among which that of a lost call is looked for."""


@dataclass(frozen=True)
class StepOperations:
    """Describes operations to steps."""

    store: Store

    def begun(
        self,
        wanted: VerbRequest,
        operation: str | None,
        version: int | None = None,
        more: Mapping[str, JsonValue] = MappingProxyType({}),
    ) -> Begun:
        """Return what a verb did whose operation this is; None: there was nothing to change."""
        named: dict[str, JsonValue] = {"changed": operation is not None, **more}
        if version is not None:
            named["version"] = version
        if operation is None:
            return Begun(named)
        named["operation"] = operation
        waits: dict[str, JsonValue] = {"operation": operation}
        return Begun(named, waits if wanted.arguments.flag("wait") else None)

    def find(self, wanted: VerbRequest, supervisor_id: str) -> Operation | None:
        """Return the operation of a call whose answer is lost, by the reason that names its effect.

        None: it stored none, or the supervisor was forgotten since.
        """
        with self.store.reading() as tx:
            rows = tx.operations.page(SEARCHED, supervisor_id=supervisor_id)
        return next((row for row in rows if row.reason == wanted.author.reason), None)

    def recall(self, wanted: VerbRequest, supervisor_id: str) -> Begun:
        """Return what a call did whose answer is lost."""
        operation = self.find(wanted, supervisor_id)
        if operation is None:
            return self.begun(wanted, None)
        return self.begun(wanted, operation.id, operation.spec_version)
