"""Where persisters take records by HTTP: a header of the answers to syncs.

A worker of an earlier release ignores the header; in the body it would refuse an unknown field.  An
overlord that names none sends no header, and a worker keeps what it heard last: another overlord
may be of an earlier release.
"""

import re
from collections.abc import Sequence

__all__ = ["DOORS_HEADER", "doors_of_header", "doors_to_header"]

DOORS_HEADER = "X-Tidegate-Reports-Persister"
"""Header of an answer to a sync: base addresses of persisters, separated by commas, in ASCII."""
DOORS_MAX = 10
_ADDRESS = re.compile(r"https?://[!-~]{1,300}")
_REFUSED = frozenset("/?#@\\,")


def doors_to_header(addresses: Sequence[str]) -> str:
    """Return the value of the header; empty: there is nothing to send."""
    return ",".join(addresses[:DOORS_MAX])


def doors_of_header(value: str) -> tuple[str, ...]:
    """Return the addresses of a header; what is no `http://host:port` is left out."""
    given = (each.strip().rstrip("/") for each in value.split(",")[:DOORS_MAX])
    return tuple(each for each in given if _is_address(each))


def _is_address(text: str) -> bool:
    if not _ADDRESS.fullmatch(text):
        return False
    return not _REFUSED & set(text.partition("://")[2])
