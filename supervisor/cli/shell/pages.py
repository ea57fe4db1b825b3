"""Pagination of lists that an overlord answers page by page."""

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from pydantic import JsonValue

from supervisor.cli.shell.client import ApiReply, Client

NO_PARAMS: Mapping[str, str | None] = MappingProxyType({})


def rows_up_to(
    client: Client, path: str, rows: str, limit: int, params: Mapping[str, str | None] = NO_PARAMS
) -> ApiReply:
    """Return the last page's answer, with up to `limit` entries of all pages in member `rows`.

    A page may have fewer rows than requested, because the caller may not see all of them.
    Parameters that are None are not sent.
    """
    collected: list[JsonValue] = []
    cursor: str | None = None
    while True:
        wanted = {**params, "limit": str(limit - len(collected)), "cursor": cursor}
        sent = {name: value for name, value in wanted.items() if value is not None}
        answer = client.get(path, sent)
        page = answer.read(dict[str, JsonValue])
        more, following = page.get(rows), page.get("next")
        collected += more if isinstance(more, list) else []
        cursor = following if isinstance(following, str) else None
        if cursor is None or len(collected) >= limit:
            return replace(answer, body=json.dumps(page | {rows: collected}).encode())
