"""What a worker says of its own process, beside its reports: a header of some of its syncs.

The header is sent with the first sync to an overlord and then every `FACTS_PERIOD_S`, so that other
syncs cost what they did.  An overlord of an earlier release ignores the header; in the body of a
sync it would refuse an unknown field.  A later worker may send members that this overlord does not
know: they are ignored, and so is a header that cannot be read.
"""

import json
from datetime import timedelta

from pydantic import ConfigDict, Field, ValidationError

from tasks.contract.wire import Seconds, Shown, Whole, Wire

FACTS_HEADER = "X-Tidegate-Worker-Facts"
"""Header of a sync: the JSON of `WorkerFacts`, in ASCII."""
FACTS_PERIOD_S = 10.0
"""Seconds from one header to the next; the memory may have changed."""
_HEADER_CHARS_MAX = 4_000


class WorkerFacts(Wire):
    """A worker's process and its Spark; each member but the first two may be unknown."""

    model_config = ConfigDict(extra="ignore")

    version: str = Field(min_length=1, max_length=100)
    running_for: Seconds = Field(ge=timedelta(0), le=timedelta(days=36_500))
    """The time since the process began."""
    spark_master: Shown | None = Field(default=None, max_length=500)
    resident_bytes: Whole | None = Field(default=None, ge=0)
    """Resident memory of the JVM of Spark's driver, as its operating system counts it: heap, code
    and buffers.  The JVM itself is not asked, because a sync must not wait for it."""
    heap_max_bytes: Whole | None = Field(default=None, ge=0)
    """The heap that this JVM may use at most."""

    def to_header(self) -> str:
        """Return the value of `FACTS_HEADER`."""
        return json.dumps(self.model_dump(mode="json", exclude_none=True), ensure_ascii=True)


def read_facts(header: str) -> WorkerFacts | None:
    """Return the facts of a header's value; None: it is empty, too long, or cannot be read."""
    if not header or len(header) > _HEADER_CHARS_MAX:
        return None
    try:
        return WorkerFacts.from_json(header)
    except ValidationError:
        return None
