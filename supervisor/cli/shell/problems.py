"""What can go wrong for a command, and the exit code that says so.

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
    """An overlord answered with a problem; `title` and `errors` are its own words."""

    def __init__(
        self,
        detail: str,
        *,
        status: int,
        title: str = "",
        errors: Sequence[FieldError] = (),
        kind: str = "",
    ) -> None:
        """Keep what the overlord said."""
        super().__init__(detail)
        self.status = status
        self.title = title
        self.errors = tuple(errors)
        self.kind = kind
        """The last part of its type, such as already-in-state."""


class CommandFailed(Refused):
    """A command found that it cannot do what was asked; `hint` says what would help."""

    def __init__(self, message: str, hint: str = "") -> None:
        """Keep the hint beside what is wrong."""
        super().__init__(message)
        self.hint = hint


class DeadlinePassed(SupervisorError):
    """What `--wait` waited for did not come in time; what was asked for goes on all the same."""


def exit_code(error: SupervisorError) -> int:
    """Return the exit code that an error becomes."""
    if isinstance(error, DeadlinePassed):
        return LATE
    return UNREACHABLE if isinstance(error, Unavailable) else FAILED
