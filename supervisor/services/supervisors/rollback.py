"""Rollback: an earlier version of a spec is stored anew as the newest one."""

from collections.abc import Sequence
from dataclasses import dataclass

from supervisor.core.history.operations import OperationKind
from supervisor.core.model.rows import SpecVersion
from supervisor.core.planning.preconditions import WHATEVER, AnyVersion, Expected
from supervisor.core.values.errors import SpecUnreadable, VersionNotFound
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
    history = service.history_stored(supervisor_id)
    stored_version = next((v for v in history if v.version == to), None)
    if isinstance(stored_version, SpecUnreadable):
        raise stored_version
    spec = None if stored_version is None else stored_version.spec
    if spec is None:
        raise VersionNotFound(
            supervisor_id, to, _known(history), is_tombstone=stored_version is not None
        )
    document = spec.normalised()
    if dry_run:
        return Rollback(service.preview(document, expected, allowed), to)
    done = service.apply_spec(
        document, author, expected, what=OperationKind.ROLLBACK, allowed=allowed
    )
    return Rollback(done, to)


def _known(history: Sequence[AnyVersion]) -> list[int]:
    """Return the numbers of the versions that have a spec."""
    read = (each for each in history if isinstance(each, SpecVersion))
    return sorted(each.version for each in read if each.spec is not None)
