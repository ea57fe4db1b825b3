"""Names of tables and supervisors: they become folders and URLs, so few characters are allowed."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from supervisor.core.values.field_types import wrong

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
# A folder of such a name cannot be made on Windows, also with an extension: `nul.txt`.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_SHOWN_MAX = 60


ERRORS_SUFFIX = "__errors"
"""The suffix of the name of an errors table, which has the bad records of a table."""


def errors_table(data_source: str) -> str:
    """Return the name of the errors table of `data_source`."""
    return f"{data_source}{ERRORS_SUFFIX}"


def rows_table(name: str) -> str:
    """Return the table that an errors table belongs to; the name of another table is unchanged."""
    return name.removesuffix(ERRORS_SUFFIX)


def is_errors_table(name: str) -> bool:
    """Return whether `name` is that of an errors table."""
    return name.endswith(ERRORS_SUFFIX)


def name_problem(name: str) -> str | None:
    """Return what is wrong with `name` as a dataSource or a supervisor's id; None if it is fine.

    The check uses `re.fullmatch`, because `$` would accept a trailing line break.
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
