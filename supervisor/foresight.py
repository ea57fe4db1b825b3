"""What a version of a spec does to what is read, looked up in the rows before it is decided on."""

from supervisor.core.foreseen import Foreseen, foresee
from supervisor.core.model import SpecVersion
from supervisor.core.observed import Limits, Observed, StreamState
from supervisor.observe import specs_of
from supervisor.ports import Transaction


def foresight(tx: Transaction, version: SpecVersion, stream: StreamState) -> Foreseen:
    """Return what becomes of the live ranges under `version`, stored or not.

    `stream` is what the last pass knew: which topics of a pattern there are decides on groups.
    """
    live = tuple(tx.generations.live(version.supervisor_id))
    return foresee(
        Observed(
            now=version.created_at,
            limits=Limits(),
            current=version,
            specs=specs_of(tx, version, live),
            committed=tx.offsets.of(version.supervisor_id),
            stream=stream,
            generations=live,
            newest=live[-1] if live else None,
            tasks=(),
            last_attempts={},
            workers=(),
        )
    )
