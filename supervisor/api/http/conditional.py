"""Answers of lists that clients poll: an entity tag, 304 if nothing has changed, and gzip.

    If-None-Match ─► is it the tag of this answer? ─► 304, without a body
    Accept-Encoding: gzip, 1 KiB or more ─► compressed

The tag is a digest of the body, so that two overlords give the same tag to the same answer.
Source: RFC 9110, 8.8, 12.5.3 and 13.1.2.
"""

import gzip
import hashlib
import re
from http import HTTPStatus

from fastapi import Request, Response
from pydantic import BaseModel

from supervisor.core.planning.preconditions import ANY

COMPRESSED_FROM = 1_024
"""The size of the smallest body that is compressed, in bytes."""
LEVEL = 4
"""Twice as fast as the usual 6, for a tenth more bytes."""
_DIGITS = 32
_CODING = re.compile(r"\s*(gzip|\*)\s*(?:;\s*q\s*=\s*([0-9.]+)\s*)?", re.IGNORECASE)


def answer_unless_known(
    request: Request, known: frozenset[str], body: BaseModel, untagged: frozenset[str] = frozenset()
) -> Response:
    """Return the answer, or 304 if `known`, the tags of If-None-Match, has its tag.

    `untagged`: members that change with every look and do not count for the tag.
    """
    content = body.model_dump_json().encode()
    lasting = body.model_dump_json(exclude=set(untagged)).encode() if untagged else content
    return answer_bytes_unless_known(request, known, content, lasting)


def answer_bytes_unless_known(
    request: Request, known: frozenset[str], content: bytes, lasting: bytes | None = None
) -> Response:
    """Return JSON that is bytes already, or 304 if `known` has its tag.

    `lasting`: the part that counts for the tag; None: all of it.
    """
    tag = f'"{hashlib.sha256(content if lasting is None else lasting).hexdigest()[:_DIGITS]}"'
    # Weak: the bytes differ by their coding.  A cache must not show one caller's list to another.
    headers = {
        "ETag": f"W/{tag}",
        "Cache-Control": "private, no-cache",
        "Vary": "Accept-Encoding, Authorization",
    }
    if not {tag, ANY}.isdisjoint(known):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    if len(content) >= COMPRESSED_FROM and takes_gzip(request):
        content = gzip.compress(content, LEVEL, mtime=0)
        headers["Content-Encoding"] = "gzip"
    return Response(content, headers=headers, media_type="application/json")


def takes_gzip(request: Request) -> bool:
    """Whether Accept-Encoding names gzip, or any coding, with a weight above 0."""
    weights: dict[str, float] = {}
    for part in ",".join(request.headers.getlist("accept-encoding")).split(","):
        coding = _CODING.fullmatch(part)
        if coding is not None:
            weights[coding[1].lower()] = _weight(coding[2])
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def _weight(text: str | None) -> float:
    try:
        return 1.0 if text is None else float(text)
    except ValueError:
        return 0.0
