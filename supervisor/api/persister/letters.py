"""Routes of a persister for dead letters.  What a letter holds is for callers with the token."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from supervisor.api.persister.answers import Guard, problem
from supervisor.ports.reports.kept_letters import LetterMark, LetterPlace
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from supervisor.reports.door import NotNow
from supervisor.reports.letters import LetterDesk, LetterPage, LetterQuery, MarkedLetter

__all__ = ["letter_routes"]

_LISTED_MAX, _SHOWN_MAX = 200, 64 * 1024
"""Characters of a body in a list, and of one letter alone."""
_TEXT_MAX = 500

Limit = Annotated[int, Query(ge=1, le=1_000)]
Number = Annotated[int | None, Query(ge=0)]
Text = Annotated[str | None, Query(max_length=_TEXT_MAX)]
By = Annotated[str, Query(max_length=_TEXT_MAX)]
Cursor = Annotated[str | None, Query(pattern=r"^[0-9]{1,19}-[0-9]{1,19}$")]


def letter_routes(desk: LetterDesk, refused: Guard) -> APIRouter:
    """Return the routes over a desk."""
    routes = APIRouter()

    @routes.get("/dead-letters")
    def page(
        request: Request,
        partition: Number = None,
        reason: Text = None,
        *,
        after: Cursor = None,
        limit: Limit = 100,
        handled: bool = False,
    ) -> Response:
        if (answer := refused(request)) is not None:
            return answer
        before = None if after is None else LetterPlace(*map(int, after.split("-")))
        query = LetterQuery(partition, reason, handled, before)
        return _answered(lambda: _page(desk.page(query, limit)))

    @routes.get("/dead-letters/{partition}/{offset}")
    def show(request: Request, partition: int, offset: int) -> Response:
        if (answer := refused(request)) is not None:
            return answer
        return _one(lambda: desk.get(LetterPlace(partition, offset)))

    @routes.post("/dead-letters/{partition}/{offset}/replay")
    def replay(
        request: Request,
        partition: int,
        offset: int,
        by: By = "an operator",
        reason: By = "",
    ) -> Response:
        if (answer := refused(request)) is not None:
            return answer
        return _one(lambda: desk.replay(LetterPlace(partition, offset), by, reason))

    @routes.delete("/dead-letters/{partition}/{offset}")
    def drop(
        request: Request,
        partition: int,
        offset: int,
        by: By = "an operator",
        reason: By = "",
    ) -> Response:
        if (answer := refused(request)) is not None:
            return answer
        return _one(lambda: desk.drop(LetterPlace(partition, offset), by, reason))

    return routes


def _one(call: Callable[[], MarkedLetter | None]) -> Response:
    def body() -> dict[str, object] | None:
        letter = call()
        return None if letter is None else _shown(letter, _SHOWN_MAX)

    return _answered(body)


def _answered(call: Callable[[], dict[str, object] | None]) -> Response:
    try:
        body = call()
    except NotNow as error:
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error), error.retry_s)
    except (StoreAway, StoreRefuses) as error:
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error), NotNow.retry_s)
    if body is None:
        return problem(
            HTTPStatus.NOT_FOUND, "there is no such dead letter, or its age has deleted it"
        )
    return JSONResponse(body)


def _page(page: LetterPage) -> dict[str, object]:
    more = page.more
    return {
        "letters": [_shown(each, _LISTED_MAX) for each in page.letters],
        "next": None if more is None else f"{more.partition}-{more.offset}",
    }


def _shown(letter: MarkedLetter, most: int) -> dict[str, object]:
    """Return a letter as JSON; bytes that are no text are shown as escapes."""
    kept = letter.kept
    text = kept.letter.body.decode(errors="backslashreplace")
    return {
        "partition": kept.place.partition,
        "offset": kept.place.offset,
        "at": None if kept.at is None else kept.at.isoformat(),
        "reason": kept.letter.reason,
        "topic": kept.letter.topic,
        "topicPartition": kept.letter.partition,
        "topicOffset": kept.letter.offset,
        "key": None
        if kept.letter.key is None
        else kept.letter.key.decode(errors="backslashreplace")[:_LISTED_MAX],
        "bytes": letter.size_bytes,
        "sha256": letter.sha256,
        "body": text[:most],
        "cut": len(text) > most or letter.size_bytes > len(kept.letter.body),
        "handled": None if letter.mark is None else _marked(letter.mark),
    }


def _marked(mark: LetterMark) -> dict[str, object]:
    return {
        "verb": mark.verb,
        "outcome": "dropped" if mark.outcome is None else mark.outcome,
        "detail": mark.detail,
        "by": mark.by,
        "reason": mark.reason,
        "at": mark.at.isoformat(),
    }
