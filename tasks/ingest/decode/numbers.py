"""Specs whose records write numbers as texts, for which reading numbers directly does not pay.

A record whose numbers are texts is read twice.  The row is the same, but if more than a few records
are like that, the second read costs more than the direct read saves.
"""

from threading import Lock

from tasks.contract.ingest_spec import IngestSpec
from tasks.ingest.decode.columns import spec_key
from tasks.ingest.decode.observed import ObservedRecords

_SPECS_MAX = 100
_PAYS_UP_TO = 0.2
"""Largest share of a batch's records that may be read twice."""


class NumberBook:
    """Results of batches of one worker, per spec; safe to call from many threads."""

    def __init__(self) -> None:
        self._otherwise: dict[str, None] = {}
        self._lock = Lock()

    def straight(self, spec: IngestSpec) -> bool:
        """Return whether to read numbers as numbers."""
        with self._lock:
            return spec_key(spec) not in self._otherwise

    def learn(self, spec: IngestSpec, observed: ObservedRecords) -> None:
        """Remember a spec, if a batch of it had to read many records twice."""
        if observed.again > _PAYS_UP_TO * observed.records:
            with self._lock:
                self._otherwise[spec_key(spec)] = None
                for old in list(self._otherwise)[:-_SPECS_MAX]:
                    del self._otherwise[old]
