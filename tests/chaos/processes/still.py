"""A run without processes, for tests of what counts them."""

from tests.chaos.runs.run import Run


class Still(Run):
    """A run whose processes are never started: only what is counted of it is real."""

    def leader(self) -> str | None:
        """Return the first."""
        return "o1"

    def kill(self, name: str, kind: str) -> None:
        """Count it."""
        self.faults.note(kind, name)

    def tick(self) -> None:
        """Look at nothing."""

    def go_on(self, seconds: float) -> None:
        """Let no time pass."""
