"""One line of `tidegate doctor`."""

from dataclasses import dataclass
from enum import StrEnum


class Result(StrEnum):
    """How a part was found; only the last one makes `doctor` fail."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True)
class InstallationCheck:
    """One line of `doctor`."""

    part: str
    result: Result
    finding: str
    fix: str = ""
