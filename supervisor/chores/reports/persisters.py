"""The duty to ask persisters how they are; its answers are in `reports/watch.py`."""

from datetime import timedelta

from supervisor.chores.duty import Duty

_PERIOD = timedelta(seconds=10)


class _Nobody:
    """Where no persister is configured."""

    def run_once(self) -> None:
        """Ask nobody."""


DUTY = Duty(
    "persisters",
    lambda wiring: wiring.persisters or _Nobody(),
    lambda _: _PERIOD,
    at_once=True,
)
