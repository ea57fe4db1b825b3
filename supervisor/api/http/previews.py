"""Dry runs over HTTP: the parameters that ask for one and bind an act to it, and their answers."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, cast

from fastapi import Query
from fastapi.responses import JSONResponse

from supervisor.core.attention.foreseen.effect import Foreseen
from supervisor.core.planning.offset_moves import DIGEST_DIGITS
from supervisor.core.values.errors import PreviewOutdated
from supervisor.views.attention.foreseen import preview_members

DryRun = Annotated[
    bool, Query(alias="dryRun", description="Tell what it would do, and change nothing.")
]

Expect = Annotated[
    str | None,
    Query(
        pattern=f"^[0-9a-f]{{{DIGEST_DIGITS}}}$",
        description="The digest of a preview: 409 with the new one, unless it does just that.",
    ),
]


def preview_of(foreseen: Foreseen) -> JSONResponse:
    """Return the answer to a dry run of a verb."""
    return JSONResponse(preview_members(foreseen))


@contextmanager
def previewed(
    members: Callable[[object], Mapping[str, object]] = lambda now: preview_members(
        cast("Foreseen", now)
    ),
) -> Iterator[None]:
    """Give an outdated preview's successor the form of the answer that it is a preview of."""
    try:
        yield
    except PreviewOutdated as outdated:
        outdated.preview = members(outdated.now)
        raise
