"""The brokers of the topics of reports, and how to log in there, as the settings name them."""

import re
from pathlib import Path

from supervisor.settings.settings import Settings

__all__ = ["report_brokers"]

_BROKER = r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}"
_BROKERS = re.compile(rf"\s*{_BROKER}\s*(?:,\s*{_BROKER}\s*)*")


def report_brokers(settings: Settings) -> dict[str, str] | None:
    """Return properties of librdkafka that say where and as whom; None: no brokers are named.

    Raises:
        SetupProblem: the setting names a file of client properties that cannot be used.
    """
    given = settings.reports_kafka
    if given is None:
        return None
    if _BROKERS.fullmatch(given):
        return {"bootstrap.servers": given}
    # The rules of properties are of the control plane, and cost a worker memory.
    from supervisor.app.client_properties import properties_in

    return properties_in(Path(given), "TIDEGATE_REPORTS_KAFKA")
