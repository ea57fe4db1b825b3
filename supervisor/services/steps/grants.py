"""Which permission each verb needs, and of which object; checked at apply and at each call."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue

from supervisor.core.flows.document import FlowDocument
from supervisor.core.flows.placed import placed_steps
from supervisor.core.flows.steps import VerbFields
from supervisor.core.values.errors import (
    DataSourceNotFound,
    NotAllowed,
    OperationNotFound,
    SupervisorNotFound,
)
from supervisor.core.values.permissions import Caller, Permission
from supervisor.services.access.ownership import Ownership

__all__ = ["NEEDS", "Need", "VerbSubject", "check_steps", "enforce"]


class VerbSubject(StrEnum):
    """The argument that names the object of a verb."""

    SUPERVISOR = "supervisor"
    TABLE = "table"
    OPERATION = "operation"
    SPEC = "spec"
    """The service checks the table of the spec."""


@dataclass(frozen=True)
class Need:
    """What a verb needs.  `ever`: on every table that the supervisor has ever fed."""

    permission: Permission
    subject: VerbSubject = VerbSubject.SUPERVISOR
    ever: bool = False


NEEDS: Mapping[str, Need] = {
    "apply": Need(Permission.APPLY, VerbSubject.SPEC),
    "suspend": Need(Permission.SUSPEND),
    "resume": Need(Permission.SUSPEND),
    "handoff": Need(Permission.HAND_OFF),
    "reset": Need(Permission.RESET),
    "terminate": Need(Permission.TERMINATE),
    "forget": Need(Permission.FORGET, ever=True),
    "markUnused": Need(Permission.DELETE, VerbSubject.TABLE),
    "backfill": Need(Permission.APPLY),
    "compact": Need(Permission.COMPACT, VerbSubject.TABLE),
    "waitFor": Need(Permission.READ),
    "verify": Need(Permission.READ, ever=True),
}
"""Type of a step -> what its verb needs."""


def enforce(
    caller: Caller, verb: str, arguments: Mapping[str, JsonValue], tables: Ownership
) -> None:
    """Return if a caller may do this.

    Raises:
        NotAllowed: it may see the object, but not do this.
        SupervisorNotFound, DataSourceNotFound, OperationNotFound: it may not see the object, or
            there is none.
    """
    need = NEEDS[verb]
    if need.subject is VerbSubject.SPEC or caller.may(need.permission, None):
        return
    subject, name = _subject_of(need, arguments)
    own = list(_tables_of(need, subject, name, tables))
    if not own or not all(caller.may_read(table) for table in own):
        raise _missing(subject, name)
    if not all(caller.may(need.permission, table) for table in own):
        raise _refused(caller, verb, need.permission, name)


def check_steps(caller: Caller, tables: Ownership) -> Callable[[FlowDocument], None]:
    """Return the check of a flow that a caller wants to own.

    It raises NotAllowed for the first step whose verb the caller may not call.  A step whose object
    an expression names, or that is not there yet, is refused if no table would do.
    """

    def check(flow: FlowDocument) -> None:
        for _, step in placed_steps(flow):
            if isinstance(step, VerbFields):
                _check_step(caller, step, tables)

    return check


def _check_step(caller: Caller, step: VerbFields, tables: Ownership) -> None:
    need, arguments = NEEDS[step.type], step.arguments()
    if caller.may(need.permission, None):
        return
    own: list[str] = []
    name = ""
    if need.subject is not VerbSubject.SPEC:
        subject, name = _subject_of(need, arguments)
        if "${" not in name:
            own = list(_tables_of(need, subject, name, tables))
    known = [table for table in own if caller.may_read(table)]
    may = all(caller.may(need.permission, table) for table in known)
    if not may or not caller.may_somewhere(need.permission):
        why = _refused(caller, step.type, need.permission, "" if not known else name)
        raise NotAllowed(f"the step {step.name}: {why}")


def _subject_of(need: Need, arguments: Mapping[str, JsonValue]) -> tuple[VerbSubject, str]:
    """Return what a verb is about; `waitFor` is about one of several things."""
    order = (need.subject, VerbSubject.OPERATION, VerbSubject.TABLE)
    subject = next((each for each in order if each in arguments), need.subject)
    return subject, str(arguments.get(subject, ""))


def _tables_of(need: Need, subject: VerbSubject, name: str, tables: Ownership) -> Iterable[str]:
    match subject:
        case VerbSubject.TABLE:
            return (name,)
        case VerbSubject.OPERATION:
            try:
                return tables.of_operation(name)
            except OperationNotFound:
                return ()
        case _:
            if need.ever:
                return tables.ever_of_supervisor(name)
            table = tables.of_supervisor(name)
            return () if table is None else (table,)


def _missing(
    subject: VerbSubject, name: str
) -> SupervisorNotFound | DataSourceNotFound | OperationNotFound:
    match subject:
        case VerbSubject.TABLE:
            return DataSourceNotFound(name)
        case VerbSubject.OPERATION:
            return OperationNotFound(name)
        case _:
            return SupervisorNotFound(name)


def _refused(caller: Caller, verb: str, permission: Permission, name: str) -> NotAllowed:
    of = f" [{name}]" if name else " anything"
    return NotAllowed(
        f"{caller.name} may not {verb}{of}: it needs the permission {permission}, and no grant of "
        f"{caller.name} has it there"
    )
