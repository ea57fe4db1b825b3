"""Which specs' records write numbers as texts: there it does not pay to read them as numbers.

A record whose numbers are texts is read twice.  That gives the same row, and costs more than it
saves if more than a few records are like that.
"""

from threading import Lock

from tasks.contract.ingest_spec import IngestSpec
from tasks.ingest.decode.columns import spec_key
from tasks.ingest.decode.observed import ObservedRecords

_SPECS_MAX = 100
_PAYS_UP_TO = 0.2
"""Part of a batch's records that may be read twice."""


class NumberBook:
    """What batches of one worker have seen, per spec; safe to call from many threads."""

    def __init__(self) -> None:
        """Begin with an empty book."""
        self._otherwise: dict[str, None] = {}
        self._lock = Lock()

    def straight(self, spec: IngestSpec) -> bool:
        """Tell whether numbers are to be read as numbers."""
        with self._lock:
            return spec_key(spec) not in self._otherwise

    def learn(self, spec: IngestSpec, observed: ObservedRecords) -> None:
        """Remember a spec of which a batch had to read much twice."""
        if observed.again > _PAYS_UP_TO * observed.records:
            with self._lock:
                self._otherwise[spec_key(spec)] = None
                for old in list(self._otherwise)[:-_SPECS_MAX]:
                    del self._otherwise[old]
