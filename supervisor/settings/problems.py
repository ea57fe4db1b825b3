"""What stands in the way of a start, and what to do about it."""

from supervisor.core.values.errors import SupervisorError


class SetupProblem(SupervisorError):
    """A process cannot run as it is set up; `fix` says what would change that."""

    def __init__(self, message: str, fix: str) -> None:
        """Keep the remedy beside what is wrong."""
        super().__init__(message)
        self.fix = fix
