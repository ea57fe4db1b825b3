"""Validated types for settings: folders, addresses and lists."""

import re
import unicodedata
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator
from pydantic_settings import NoDecode

from supervisor.core.tables.path_patterns import SPARK
from supervisor.core.values.field_types import wrong

_UNWRITABLE = {"Cc", "Cs", "Zl", "Zp"}
"""Unicode categories: control characters, surrogates (undecodable bytes) and line separators."""


def _split(value: object) -> object:
    """Accept a comma-separated text from the environment, or a list from the file."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _is_a_folder(value: object) -> object:
    if isinstance(value, str) and "://" in value:
        raise wrong("must be a folder", "object stores are not built yet: mount one folder")
    return value


def _absolute(value: Path) -> Path:
    folder = value.expanduser().absolute()
    if any(unicodedata.category(c) in _UNWRITABLE for c in str(folder)):
        raise wrong(
            "has a line break, or bytes that are no UTF-8, in its path",
            "rename it, or use another folder",
        )
    return folder


def _no_pattern(folder: Path) -> Path:
    """Refuse a path that Hadoop can use neither as it is nor as a pattern (`tasks.spark.paths`)."""
    text = str(folder)
    if ":" in text and not set(SPARK).isdisjoint(text):
        raise wrong(
            f"has both a colon and one of {SPARK} in its path, which Spark cannot read",
            "rename it, or name a link to it",
        )
    return folder


def http_urls(value: tuple[str, ...]) -> tuple[str, ...]:
    """Check addresses of the form http://host:port; a slash at the end is dropped."""
    for url in value:
        if not re.fullmatch(r"https?://[^\s/?#]+/?", url):
            raise wrong(f"{url!r} is not an address", "write http://host:port")
    return tuple(url.rstrip("/") for url in value)


def http_url(value: str) -> str:
    """Check one address."""
    return http_urls((value,))[0]


Folder = Annotated[Path, BeforeValidator(_is_a_folder), AfterValidator(_absolute)]
"""A folder, made absolute when it is read."""
TableFolder = Annotated[Folder, AfterValidator(_no_pattern)]
"""A folder that Spark reads."""
Addresses = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
"""Several texts: separated by commas in the environment, a list in the file."""
