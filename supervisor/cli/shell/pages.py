"""Pagination of lists that an overlord answers page by page."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from urllib.parse import parse_qsl, urlsplit

from pydantic import JsonValue

from supervisor.cli.shell.client import ApiReply, Client

WindowParams = Mapping[str, str | Sequence[str] | None]
PAGE_MAX = 1_000
"""Rows that an overlord gives at once."""
NO_PARAMS: WindowParams = MappingProxyType({})
NONE: Mapping[str, str] = MappingProxyType({})
_NEXT = re.compile(r'<([^>]*)>\s*;\s*rel="?next"?')


def rows_up_to(
    client: Client, path: str, rows: str, limit: int, params: WindowParams = NO_PARAMS
) -> ApiReply:
    """Return the last page's answer, with up to `limit` entries of all pages in member `rows`.

    A page has `PAGE_MAX` rows at most, and may have fewer, because the caller may not see all of
    them.
    Parameters that are None, or have no value, are not sent.
    """
    collected: list[JsonValue] = []
    cursor: str | None = None
    while True:
        wanted = {**params, "limit": str(min(PAGE_MAX, limit - len(collected))), "cursor": cursor}
        sent = {n: value for n, value in wanted.items() if value is not None and value != []}
        answer = client.get(path, sent)
        page = answer.read(dict[str, JsonValue])
        more, following = page.get(rows), page.get("next")
        collected += more if isinstance(more, list) else []
        cursor = following if isinstance(following, str) else None
        if cursor is None or len(collected) >= limit:
            return replace(answer, body=json.dumps(page | {rows: collected}).encode())


def linked_pages(client: Client, path: str, first: Mapping[str, str]) -> Iterator[ApiReply]:
    """Yield the pages of a list in Druid's form, whose header Link names the next page.

    Only the query of that link is used: the next request goes to the same path.
    """
    sent = {**first}
    while True:
        answer = client.get(path, sent)
        yield answer
        following = _NEXT.search(answer.headers.get("link", ""))
        if following is None:
            return
        sent = dict(parse_qsl(urlsplit(following[1]).query))


def linked_rows_up_to(
    client: Client, path: str, limit: int, *, bound: str = "count", params: Mapping[str, str] = NONE
) -> ApiReply:
    """Return the last page's answer, with up to `limit` entries of all pages.

    `bound` is the parameter that bounds a page.
    """
    collected: list[JsonValue] = []
    for answer in linked_pages(client, path, {**params, bound: str(limit)}):
        collected += answer.read(list[JsonValue])
        if len(collected) >= limit:
            break
    return replace(answer, body=json.dumps(collected[:limit]).encode())
