"""The headers If-Match and If-None-Match of routes that store a version of a spec or a flow."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Header

from supervisor.core.planning.preconditions import Expected, read_tags
from supervisor.core.values.errors import FieldError, InvalidRequest

_HINT = '* or tags in their quotes, as ETag gave them: If-Match: "3-0123456789abcdef"'
_TAG = '"[!#-~]*"'
STRONG = f"^([*]|{_TAG}(, ?{_TAG})*)$"
WEAK = STRONG.replace(_TAG, f"(W/)?{_TAG}")


def _expected(
    if_match: Annotated[
        list[str] | None,
        Header(
            description="Act only on this version: the ETag of a GET, or *; else 412.",
            json_schema_extra={"pattern": STRONG},
        ),
    ] = None,
    if_none_match: Annotated[
        list[str] | None,
        Header(
            description="*: act only if there is none yet; of a GET: 304 if it is known.",
            json_schema_extra={"pattern": WEAK},
        ),
    ] = None,
) -> Expected:
    return Expected(
        match=_tags("If-Match", if_match, weak=False),
        none_match=_tags("If-None-Match", if_none_match, weak=True),
    )


def _known_tags(
    if_none_match: Annotated[
        list[str] | None,
        Header(
            description="304 if this is the tag of the answer.",
            json_schema_extra={"pattern": WEAK},
        ),
    ] = None,
) -> frozenset[str]:
    return _tags("If-None-Match", if_none_match, weak=True) or frozenset()


def _tags(name: str, values: Sequence[str] | None, *, weak: bool) -> frozenset[str] | None:
    if values is None:
        return None
    tags = read_tags(values, weak=weak)
    if tags is None:
        raise InvalidRequest([FieldError(f"/header/{name}", "is no list of ETags", _HINT)])
    return tags


Precondition = Annotated[Expected, Depends(_expected)]
KnownTags = Annotated[frozenset[str], Depends(_known_tags)]
"""The tags of answers that the client of a GET has already, without `W/`."""
