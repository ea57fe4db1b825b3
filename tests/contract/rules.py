"""What is asked of schemathesis, and each place where its rules do not fit, with the reason.

No route is left out and no check is switched off for a route.  A test compares the routes named
here with those there are.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

POSITIVE = ("2xx", "3xx", "401", "403", "404", "409", "429")
"""What a request that fits its schema is answered, unless a rule below says more."""
REPORTING = ("2xx", "4xx", "5xx")
WORKS = ("2xx", "3xx", "4xx")
_DRUID = "/druid/indexer/v1"
_ONE = f"{_DRUID}/supervisor/{{supervisor_id}}"
_OURS = "/api/v1"
_TABLE = f"{_OURS}/datasources/{{data_source}}"

BOUNDED: Mapping[str, str] = MappingProxyType(
    {
        f"GET {_OURS}/events/stream": "it never ends: one event, or two seconds, are read of it",
        "POST /internal/v1/workers/{worker}/sync": "it waits as long as the worker asks, up to "
        "20 s: the hook asks for none",
    }
)
"""Routes that would take their time, and how that is bounded.  All their other cases are sent."""


class Also(NamedTuple):
    """Statuses that fit too, at some routes, and why."""

    why: str
    routes: tuple[str, ...]


_SPEC = Also(
    "a spec or a flow whose fields do not fit together is one that its schema takes",
    (
        f"POST {_DRUID}/supervisor",
        f"POST {_DRUID}/task",
        f"POST {_DRUID}/sampler",
        f"POST {_ONE}/resetOffsets",
        f"POST {_OURS}/flows",
        f"POST {_OURS}/flows/validate",
        f"POST {_OURS}/flows/plan",
        f"POST {_OURS}/flows/{{flow}}/plan",
        f"POST {_OURS}/flows/{{flow}}/executions",
    ),
)
_DOCUMENT = Also(
    "a document with an empty key, however deep, is none: a schema would say so at every object",
    (f"POST {_OURS}/supervisors/validate",),
)
_CALL = Also(
    "a call is opaque: executors send it as the sequencer has written it",
    ("POST /internal/v1/steps",),
)
_CURSOR = Also(
    "a cursor is opaque: only the list that gave it knows its own",
    (
        f"GET {_OURS}/audit",
        f"GET {_OURS}/compactions",
        f"GET {_TABLE}/segments",
        f"GET {_OURS}/events",
        f"GET {_OURS}/operations",
        f"GET {_OURS}/tasks",
        f"GET {_OURS}/queues",
        f"GET {_OURS}/queues/failed",
        f"GET {_OURS}/supervisors",
        f"GET {_OURS}/supervisors/terminated",
        f"GET {_OURS}/queues/{{container}}/{{name}}/failed",
        f"GET {_OURS}/supervisors/{{supervisor_id}}/generations",
        f"GET {_OURS}/supervisors/{{supervisor_id}}/plans",
        f"GET {_OURS}/reports",
        f"GET {_OURS}/logs",
        f"GET {_OURS}/executions",
    ),
)
_NEVER = Also(
    "Druid has it and Tidegate does not: the answer says what does instead",
    (f"POST {_DRUID}/action", f"POST {_DRUID}/worker"),
)
_INTERVAL = Also(
    "a date of the right form may be none, and an interval may end before it begins",
    (
        f"GET {_OURS}/supervisors/{{supervisor_id}}/coverage",
        f"GET {_DRUID}/tasks",
        f"DELETE {_DRUID}/pendingSegments/{{data_source}}",
        f"POST {_DRUID}/datasources/{{data_source}}/markUsed",
        f"POST {_DRUID}/datasources/{{data_source}}/markUnused",
        f"POST {_TABLE}/compact",
        f"GET {_OURS}/supervisors/{{supervisor_id}}/lag",
        f"GET {_OURS}/supervisors/{{supervisor_id}}/bundle",
        f"GET {_OURS}/lag",
        f"GET {_TABLE}/timeline",
        f"GET {_OURS}/reports",
        f"GET {_OURS}/logs",
        f"GET {_OURS}/executions",
    ),
)
_LENGTH = Also(
    "a duration of the right form may be too long, or hold months, which have no fixed length",
    (f"PUT {_TABLE}/retention", f"PUT {_TABLE}/compaction"),
)
_THERE = Also(
    "what is named has to be there, or to be in the state for it",
    (
        f"GET {_OURS}/events/stream",
        f"POST {_ONE}/suspend",
        f"POST {_ONE}/resume",
        f"POST {_ONE}/taskGroups/handoff",
        f"POST {_ONE}/resetToLatestAndBackfill",
        f"POST {_OURS}/supervisors/{{supervisor_id}}/rollback",
        "POST /internal/v1/workers/{worker}/sync",
        "POST /internal/v1/samples/{sample_id}",
    ),
)
_SESSION = Also(
    "only the console logs in, and only where somebody is asked who they are",
    (f"POST {_OURS}/sessions", f"DELETE {_OURS}/sessions/current"),
)
REFUSED: tuple[Also, ...] = (
    *(_SPEC, _DOCUMENT, _CALL, _CURSOR, _NEVER, _INTERVAL, _LENGTH, _THERE, _SESSION),
)
"""Routes that may answer 400 to what fits their schema."""

MOVED = Also(
    "If-Match names a version, and it is another one by now: 412",
    (
        f"POST {_DRUID}/supervisor",
        f"POST {_OURS}/supervisors/validate",
        f"POST {_OURS}/supervisors/{{supervisor_id}}/rollback",
        *(f"POST {_ONE}/{verb}" for verb in ("suspend", "resume", "terminate", "shutdown")),
        f"POST {_ONE}/resetToLatestAndBackfill",
        f"POST {_OURS}/flows",
        f"DELETE {_OURS}/flows/{{flow}}",
        f"POST {_OURS}/flows/{{flow}}/versions/{{version}}/rollback",
    ),
)
UNAVAILABLE: tuple[Also, ...] = (
    Also("Druid's answer for a supervisor that is unhealthy", (f"GET {_ONE}/health",)),
    Also(
        "no worker is free to read, or Kafka does not answer at the address of the spec",
        (
            f"POST {_DRUID}/sampler",
            *(f"POST {_ONE}/{verb}" for verb in ("reset", "resetOffsets")),
            f"POST {_ONE}/resetToLatestAndBackfill",
        ),
    ),
    Also("the worker that keeps the log may be gone", (f"GET {_DRUID}/task/{{task_id}}/log",)),
)
"""Routes at which 503 is an answer and no failure: it is about something outside."""

REPORTS = Also(
    "it tells what is wrong with a spec, and that it tells so is a 200",
    (f"POST {_OURS}/supervisors/validate",),
)
UNPROVED = Also(
    "where nobody is asked who they are, a worker needs no token, though it may send one",
    ("POST /internal/v1/workers/{worker}/sync",),
)
"""Routes that take a request without the header of a worker, at the overlord that asks nobody."""
UNASKED = ("ignored_auth", "missing_required_header")
"""Left out where nobody is asked who they are: both are about credentials."""


def statuses(route: str) -> tuple[list[str], list[str]]:
    """Return what a route may answer: to what fits its schema, and to anything."""
    fits, works = [*POSITIVE], [*WORKS]
    if any(route in rule.routes for rule in REFUSED):
        fits.append("400")
    if route in MOVED.routes:
        fits.append("412")
    if any(route in rule.routes for rule in UNAVAILABLE):
        fits.append("503")
        works.append("503")
    return fits, works


def of_walks() -> tuple[list[str], list[str]]:
    """Return the same for all steps of walks, which schemathesis judges by one rule together."""
    routes = [rule.routes for rule in (*REFUSED, MOVED, *UNAVAILABLE)]
    found = [statuses(route) for named in routes for route in named]
    fits = sorted({status for each, _ in found for status in each})
    return fits, sorted({status for _, each in found for status in each})
