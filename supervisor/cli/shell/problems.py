"""Errors of commands and their exit codes.

| code | meaning |
|---|---|
| 0 | done, and the answer is yes |
| 1 | refused, failed, or the answer is no (`verify`, `doctor`, `health`) |
| 2 | wrong usage |
| 3 | an overlord, or Kafka, cannot be reached |
| 4 | the deadline of `--wait` passed |
"""

from collections.abc import Sequence

from supervisor.core.values.errors import FieldError, Refused, SupervisorError, Unavailable

FAILED, USAGE, UNREACHABLE, LATE = 1, 2, 3, 4


class Unreachable(Unavailable):
    """No overlord answered."""


class ProblemAnswer(Refused):
    """An overlord answered with a problem; `title` and `errors` are from its answer."""

    def __init__(
        self,
        detail: str,
        *,
        status: int,
        title: str = "",
        errors: Sequence[FieldError] = (),
        kind: str = "",
    ) -> None:
        """Keep the members of the overlord's answer."""
        super().__init__(detail)
        self.status = status
        self.title = title
        self.errors = tuple(errors)
        self.kind = kind
        """The last part of the problem's type, such as already-in-state."""


class CommandFailed(Refused):
    """A command cannot do what the user wants; `hint` says what would help."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class DeadlinePassed(SupervisorError):
    """The deadline of `--wait` passed; the operation itself goes on."""


def exit_code(error: SupervisorError) -> int:
    """Return the exit code for an error."""
    if isinstance(error, DeadlinePassed):
        return LATE
    return UNREACHABLE if isinstance(error, Unavailable) else FAILED
