"""Names each failure when it happens: a run that is stopped has then said what it found."""

import pytest

__all__ = ["name_failures_at_once"]

_REASON_MAX = 300
"""Characters of the reason; all of it follows in pytest's summary."""


class _Failures:
    def __init__(self, reporter: pytest.TerminalReporter) -> None:
        self._reporter = reporter

    @pytest.hookimpl(trylast=True)  # pytest's own letter comes first
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write a line for a failure of the test, or of what it was set up with."""
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = str(crash.message if crash else report.longrepr)[:_REASON_MAX]
            at = f"{report.nodeid}, {report.when}, after {report.duration:.0f} s"
            self._reporter.ensure_newline()
            self._reporter.write_line(f"FAILED {at}: {' '.join(reason.split())}")


def name_failures_at_once(session: pytest.Session) -> None:
    """Do so in the process that has the terminal: with pytest-xdist that is one of several."""
    config = session.config
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Failures(reporter))
