"""Answers of a real overlord, changed on their way to a page: hostile text, numbers of 64 bits.

Python reads and writes whole numbers of JSON without losing a digit.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page, Route

from tests.browser.hostile.payloads import CONTROLS, PAYLOADS

Document = Any
"""A JSON document: each answer has another form."""
Change = Callable[[Document], Document]

TEXTS = (*PAYLOADS, *CONTROLS)
WHOLE = " ".join((*PAYLOADS[19:], *CONTROLS, *PAYLOADS[:19]))
"""All payloads in one text; it begins with a scheme, and the first element in it runs first."""
WORDS = ("constructor", "__proto__", "toString", "<img src=x onerror=alert(1)>", "a\u202eb")
"""Words of states that no release knows; three are members of each object."""
FIRST = (1 << 53) + 1
"""The first whole number that no double is."""
LAST = (1 << 63) - 1

_STAYS = frozenset(
    [
        *(
            "status",
            "statusCode",
            "runnerStatusCode",
            "state",
            "detailedState",
            "liveness",
            "phase",
        ),
        *("kind", "type", "severity", "format", "reader", "errorType", "badRecords", "bucket"),
    ]
)
"""Members whose words a page knows; they are hostile in tests of their own."""
_BOUND = frozenset(
    [
        *("partition", "partitions", "group", "taskGroupId", "replica", "attempt", "taskCount"),
        *("version", "specVersion", "incarnation", "samples", "used", "total", "needed", "free"),
        *("lagSeconds", "silentFor", "stalledFor", "uptime", "duration", "timeOfExceptionMillis"),
        *("reading", "pausing", "finishing", "publishing"),
    ]
)
"""Numbers that are never of 64 bits, and lengths of time."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT|P(T?\d|\d)")


@dataclass
class Planting:
    """Puts `text` into each text of a document, and a number of its own into each number."""

    text: str
    numbers: list[int] = field(default_factory=list)
    """What was put in."""
    least: int = FIRST
    keeps: frozenset[str] = frozenset()
    """Members that stay, beside words, times and what is bound."""

    def into(self, document: Document, name: str = "") -> Document:
        """Return the document with all that is put into it; `name` is its member's."""
        if isinstance(document, dict):
            return {
                each: value if each in self.keeps else self.into(value, each)
                for each, value in document.items()
            }
        if isinstance(document, list):
            return [self.into(each, name) for each in document]
        if isinstance(document, str):
            stays = name in _STAYS or _TIME.match(document)
            return document if stays or not document else self.text
        if isinstance(document, int) and not isinstance(document, bool):
            return document if name in _BOUND else self._number()
        return document

    def _number(self) -> int:
        # Odd, so that each of them is rounded where it is taken for a double.
        self.numbers.append(min(self.least + 2 * len(self.numbers), LAST))
        return self.numbers[-1]


@dataclass
class Answers:
    """The answers that one page gets."""

    page: Page

    def change(self, path: str, change: Change, source: str | None = None) -> None:
        """Change the JSON of each answer to GET whose path and query fit a pattern.

        `source` is asked in place of the address; the overlord's answer is a real one all the same.
        """

        def answer(route: Route) -> None:
            if route.request.method != "GET":
                route.fallback()
                return
            asked = route.request.headers.items()
            headers = {name: each for name, each in asked if name != "if-none-match"}
            response = route.fetch(url=source or route.request.url, headers=headers)
            body = json.dumps(change(json.loads(response.text())))
            kept = {name: each for name, each in response.headers.items() if name != "etag"}
            route.fulfill(response=response, headers=kept, body=body)

        self.page.route(re.compile(path), answer)


def rows(row: Document, name: str, **changed: object) -> list[Document]:
    """Return a copy of a row for each payload, in all its texts; `name` is the row's id.

    The id begins with the row's number, so that no two rows have one.
    """
    return [
        {**Planting(text).into(row), name: f"{n} {text}", **changed} for n, text in enumerate(TEXTS)
    ]


def grouped(number: int) -> str:
    """Return a number as a page writes it."""
    return f"{number:,}"
