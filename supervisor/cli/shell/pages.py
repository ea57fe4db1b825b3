"""Lists that an overlord tells page by page."""

from collections.abc import Mapping
from types import MappingProxyType

from supervisor.cli.shell.answers import Lenient
from supervisor.cli.shell.client import Client

NO_PARAMS: Mapping[str, str | None] = MappingProxyType({})


class _Page(Lenient):
    next: str | None = None


def rows_up_to(
    client: Client, path: str, rows: str, limit: int, params: Mapping[str, str | None] = NO_PARAMS
) -> dict[str, object]:
    """Return the last page's answer with so many `rows` of all pages, or all there are.

    A page may hold fewer than are asked for: the caller may not see all of it.  Parameters that
    are None are not sent.
    """
    found: list[object] = []
    cursor: str | None = None
    while True:
        asked = {**params, "limit": str(limit - len(found)), "cursor": cursor}
        sent = {name: value for name, value in asked.items() if value is not None}
        answer = client.get(path, sent)
        page, told = answer.read(_Page), answer.json()
        assert isinstance(told, dict), "it was read as one"
        found, cursor = [*found, *told[rows]], page.next
        if cursor is None or len(found) >= limit:
            return told | {rows: found}
