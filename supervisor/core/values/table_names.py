"""The names of tables and supervisors: they become folders and URLs, so few signs are allowed."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from supervisor.core.values.field_types import wrong

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
# A folder of such a name cannot be made on Windows, also with an extension: `nul.txt`.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_SHOWN_MAX = 60


ERRORS_SUFFIX = "__errors"
"""Ends the name of the table that has the records that could not be read."""


def errors_table(data_source: str) -> str:
    """Return the name of the table with the records of `data_source` that could not be read."""
    return f"{data_source}{ERRORS_SUFFIX}"


def rows_table(name: str) -> str:
    """Return the table that an errors table stands beside; another table's name as it is."""
    return name.removesuffix(ERRORS_SUFFIX)


def is_errors_table(name: str) -> bool:
    """Tell whether a table has records that could not be read."""
    return name.endswith(ERRORS_SUFFIX)


def name_problem(name: str) -> str | None:
    """Return what is wrong with `name` as a dataSource or a supervisor's id; None if it is fine.

    `re.fullmatch`, for `$` would let a trailing line break through.
    """
    shown = ascii(name[:_SHOWN_MAX])
    if not name:
        return "must not be empty"
    if _NAME.fullmatch(name) is None:
        return f"{shown} is not a name: letters, digits and _ . - only, at most 128, no sign first"
    if ".." in name or name.endswith("."):
        return f"{shown} is not a name: no two dots in a row, no dot at the end"
    if _DEVICES.fullmatch(name):
        return f"{shown} is a device on Windows and cannot name a folder there"
    return None


def _checked(name: str) -> str:
    if problem := name_problem(name):
        raise wrong(problem, "choose a name such as web-events or orders_2024")
    return name


SafeName = Annotated[str, Field(strict=True), AfterValidator(_checked)]
"""A dataSource or a supervisor's id in a model."""
