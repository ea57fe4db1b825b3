"""Credentials that a process sends: from a variable, else from a file that a setting names."""

import os
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from supervisor.settings.problems import SetupProblem
from tasks.runtime.secrets import known_secrets

__all__ = ["File", "credential", "line_of"]


def _absolute(value: Path) -> Path:
    return value.expanduser().absolute()


File = Annotated[Path, AfterValidator(_absolute)]
"""A file, made absolute when it is read."""


def credential(variable: str, file: Path | None) -> str | None:
    """Return a token or key, which all texts mask from now on; None: none is set.

    Raises:
        SetupProblem: the file cannot be read, or the text has signs that no header takes.
    """
    given = os.environ.get(variable, "").strip()
    if not given and file is not None:
        given = line_of(file, f"{variable}_FILE")
    if not given:
        return None
    if not (given.isascii() and given.isprintable() and " " not in given):
        raise SetupProblem(
            f"{variable} has signs that no token has", "`tidegate access token create` makes one"
        )
    known_secrets().learn(given)
    return given


def line_of(file: Path, setting: str) -> str:
    """Return the text of a file, without white space around it.

    Raises:
        SetupProblem: it cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SetupProblem(f"{setting}: {file} cannot be read: {error}", "correct it") from error
