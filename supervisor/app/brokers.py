"""The brokers of reports and of executions, and how to log in there, as the settings name them."""

import re
from pathlib import Path

from supervisor.settings.settings import Settings

__all__ = ["execution_brokers", "report_brokers"]

_BROKER = r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}"
_BROKERS = re.compile(rf"\s*{_BROKER}\s*(?:,\s*{_BROKER}\s*)*")


def report_brokers(settings: Settings) -> dict[str, str] | None:
    """Return properties of librdkafka that say where and as whom; None: no brokers are named.

    Raises:
        SetupProblem: the setting names a file of client properties that cannot be used.
    """
    return _brokers_in(settings.reports_kafka, "TIDEGATE_REPORTS_KAFKA")


def execution_brokers(settings: Settings) -> dict[str, str] | None:
    """Return properties of librdkafka that say where and as whom; None: no brokers are named.

    Raises:
        SetupProblem: the setting names a file of client properties that cannot be used.
    """
    return _brokers_in(settings.executions_kafka, "TIDEGATE_EXECUTIONS_KAFKA")


def _brokers_in(given: str | None, setting: str) -> dict[str, str] | None:
    if given is None:
        return None
    if _BROKERS.fullmatch(given):
        return {"bootstrap.servers": given}
    # The rules of properties are of the control plane, and cost a worker memory.
    from supervisor.app.client_properties import properties_in

    return properties_in(Path(given), setting)
