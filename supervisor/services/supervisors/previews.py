"""Previews of resets: the act does what its preview has shown, or nothing.

    dry run ──► digest, and the offsets that it was about ──► kept here for a while
    act with the digest ──► the same offsets as then, judged anew: still the same effect?
                            yes: it is done          no: PreviewOutdated, with the new preview

The end of a log moves with every record.  So an act takes the offsets of its preview, and does not
look for the end again.  What was kept is lost with the process: then the offsets of now count, and
the digest says whether they are the same.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace

from supervisor.core.planning.observed import StreamState
from supervisor.core.planning.offset_moves import NewOffsets

KEPT_MAX = 200


@dataclass(frozen=True)
class Previews:
    """The newest previews of this process; safe from many threads."""

    _kept: "OrderedDict[str, NewOffsets]" = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def keep(self, digest: str, new: NewOffsets) -> None:
        """Keep the offsets of a preview; the oldest of too many goes."""
        with self._lock:
            self._kept[digest] = new
            self._kept.move_to_end(digest)
            while len(self._kept) > KEPT_MAX:
                self._kept.popitem(last=False)

    def recall(self, digest: str, seen: StreamState) -> NewOffsets | None:
        """Return the offsets of a preview; None: not kept, or Kafka does not hold them now."""
        with self._lock:
            kept = self._kept.get(digest)
        if kept is None:
            return None
        for partition, offset in kept.offsets.items():
            held = (seen.earliest.get(partition), seen.latest.get(partition))
            if held[0] is None or held[1] is None or not held[0] <= offset <= held[1]:
                return None
        return replace(kept, topic_ids=seen.topic_ids, earliest=seen.earliest)
