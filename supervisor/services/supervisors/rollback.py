"""Rollback: an earlier version of a spec is stored anew as the newest one."""

from dataclasses import dataclass

from supervisor.core.history.operations import OperationKind
from supervisor.core.planning.preconditions import WHATEVER, Expected
from supervisor.services.access.ownership import Allowed, everything
from supervisor.services.supervisors.admission import Applied
from supervisor.services.supervisors.specs import Service


@dataclass(frozen=True)
class Rollback:
    """The result of a rollback, or of its dry run."""

    applied: Applied
    to: int
    """The version whose spec becomes the newest again."""


def roll_back(
    service: Service,
    supervisor_id: str,
    to: int,
    author: str,
    *,
    expected: Expected = WHATEVER,
    allowed: Allowed = everything,
    dry_run: bool = False,
) -> Rollback:
    """Store the spec of version `to` once more, judged like any posted spec.

    Raises:
        NoHistory: the id was never used.
        VersionNotFound: there is no such version, or it is a tombstone.
        SpecUnreadable: this release cannot read that version.
        InvalidSpec: the spec is no longer acceptable, or changes a field that must not change.
        PreconditionFailed: the newest version is not as `expected`.
        NotAllowed: the caller may not change the spec's table, or the present one.
        LeaseLost: this overlord does not lead.
    """
    # A version never changes, so it need not be read in the writing transaction.
    spec = service.spec_of_version(supervisor_id, to)
    document = spec.normalised()
    if dry_run:
        return Rollback(service.preview(document, expected, allowed), to)
    done = service.apply_spec(
        document, author, expected, what=OperationKind.ROLLBACK, allowed=allowed
    )
    return Rollback(done, to)
