"""The error of a wrong setup, with the remedy."""

from supervisor.core.values.errors import SupervisorError


class SetupProblem(SupervisorError):
    """A process cannot run with its present setup; `fix` is the remedy."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix
