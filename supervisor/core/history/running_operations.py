"""Which operations run, by what the last pass over each supervisor saw; pure.

The list of operations judges each one by rows of its own.  A count of them needs less: nothing
waits for a range that has ended, so the live ranges of a pass are enough.
"""

from supervisor.core.history.operations import (
    Operation,
    OperationFacts,
    OperationKind,
    OperationState,
    judge_operation,
)
from supervisor.core.planning.passes import Pass


def runs_still(operation: Operation, last_pass: Pass) -> bool:
    """Return whether an operation runs, as the last pass over its supervisor saw it."""
    seen, version = last_pass.seen, operation.spec_version
    if operation.kind is OperationKind.UNKNOWN:
        return False  # an overlord of a newer release can judge it
    if version is not None and version < seen.current.version:
        return False  # done, or superseded
    facts = OperationFacts(named=tuple(g for g in seen.generations if g.id in operation.ranges))
    if version is not None:
        facts = _facts(operation, version, facts, last_pass)
    return judge_operation(operation, facts).state is OperationState.RUNNING


def _facts(
    operation: Operation, version: int, named: OperationFacts, last_pass: Pass
) -> OperationFacts:
    seen, newest = last_pass.seen, last_pass.seen.newest
    spec, last = seen.current.spec, operation.last_ordinal
    is_opened = newest is not None and (
        newest.opened_at >= operation.at if last is None else newest.ordinal > last
    )
    is_idle = newest is not None and spec is not None and spec.io_config.idle_after is not None
    return OperationFacts(
        older=tuple(g for g in seen.generations if g.spec_version < version),
        opened_at=newest.opened_at if newest is not None and is_opened else None,
        named=named.named,
        rests=spec is None or spec.suspended or last_pass.decided.over or is_idle,
    )
