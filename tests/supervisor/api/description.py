"""The description of the API, worked out once in a process: it takes a second of CPU or two."""

import json
from functools import cache
from typing import Any

from scripts.openapi import page

__all__ = ["description", "description_page"]

description_page = cache(page)
"""Returns docs/reference/openapi.json as it should be."""


def description() -> dict[str, Any]:
    """Return the OpenAPI document; each caller has one of its own."""
    document: dict[str, Any] = json.loads(description_page())
    return document
