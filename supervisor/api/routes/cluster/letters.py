"""Routes of dead letters: records that could not be stored, which a persister keeps."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Author, Parts
from supervisor.core.values.permissions import Permission
from supervisor.services.tasks.letters import LetterPick
from supervisor.views.reports import LetterPageView, LetterView

router = APIRouter(
    prefix="/api/v1/dead-letters",
    tags=["history"],
    responses={404: {"description": "No persister is configured, or there is no such letter"}},
)

_NUMBER_MAX = 2**63 - 1
LetterLimit = Annotated[int, Query(ge=1, le=1_000, description="At most so many.")]
About = Annotated[
    str | None, Query(min_length=1, max_length=500, description="The reason holds this.")
]
After = Annotated[
    str | None,
    Query(description="The `next` of the page before.", pattern=r"^[0-9]{1,18}-[0-9]{1,18}$"),
]
OfPersister = Annotated[
    str | None,
    Query(
        max_length=500,
        description="The address of the persister, as a list names it; without it any that lives.",
    ),
]
Sha256 = Annotated[
    str | None,
    Query(
        description="Of the letter that was shown: refuse with 409 if another one is there now.",
        pattern="^[0-9a-f]{64}$",
    ),
]
Place = Annotated[int, Path(ge=0, le=_NUMBER_MAX)]


@router.get("", dependencies=[needs(Permission.READ)])
def list_letters(
    parts: Parts,
    *,
    about: About = None,
    handled: Annotated[bool, Query(description="Also those that were handled.")] = False,
    limit: LetterLimit = 100,
    after: After = None,
    persister: OfPersister = None,
) -> LetterPageView:
    """List records that could not be stored, newest first; a persister that lives answers."""
    return parts.letters.page(about, limit, after, persister, all_=handled)


@router.get("/{partition}/{offset}", dependencies=[needs(Permission.READ)])
def get_letter(
    partition: Place, offset: Place, parts: Parts, persister: OfPersister = None
) -> LetterView:
    """Return one dead letter: why it could not be stored, and its text."""
    return parts.letters.get(LetterPick(partition, offset, persister))


@router.post("/{partition}/{offset}/replay", dependencies=[needs(Permission.REPLAY)])
def replay_letter(
    partition: Place,
    offset: Place,
    author: Author,
    parts: Parts,
    *,
    persister: OfPersister = None,
    sha256: Sha256 = None,
) -> LetterView:
    """Store a dead letter if it can be stored now; `handled` says what became of it."""
    return parts.letters.replay(LetterPick(partition, offset, persister, sha256), author)


@router.delete("/{partition}/{offset}", dependencies=[needs(Permission.REPAIR)])
def drop_letter(
    partition: Place,
    offset: Place,
    author: Author,
    parts: Parts,
    *,
    persister: OfPersister = None,
    sha256: Sha256 = None,
) -> LetterView:
    """Drop a dead letter: it is listed no more, and stays where it is until its age deletes it."""
    return parts.letters.drop(LetterPick(partition, offset, persister, sha256), author)
