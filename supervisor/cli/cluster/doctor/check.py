"""The result of one check of `tidegate doctor`."""

from dataclasses import dataclass
from enum import StrEnum


class Result(StrEnum):
    """The result of a check; only PROBLEM makes `doctor` fail."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True)
class InstallationCheck:
    """One line of `doctor`: a part, its result, the finding, and how to fix a problem."""

    part: str
    result: Result
    finding: str
    fix: str = ""
