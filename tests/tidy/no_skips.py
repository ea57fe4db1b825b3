"""A pytest plugin: a test that is skipped, or expected to fail, fails.

A missing part (a broker, a browser) is a failure that names it, never a silent gap.
What may be skipped all the same stands in `exceptions.SKIPS`, with its reason.
"""

from collections.abc import Generator

import pytest

from tests.tidy.exceptions import SKIPS


def is_allowed(node_id: str) -> bool:
    """Whether the list of exceptions lets this test be skipped."""
    return any(node_id.startswith(start) for start in SKIPS)


def _why(report: pytest.TestReport | pytest.CollectReport) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    return str(getattr(report, "wasxfail", "") or report.longrepr)


def _fail(report: pytest.TestReport | pytest.CollectReport) -> None:
    report.longrepr = f"{report.nodeid} was not run: {_why(report)}. No test may be skipped."
    report.outcome = "failed"
    if hasattr(report, "wasxfail"):
        del report.wasxfail


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the report of a skipped test into that of a failed one."""
    report = yield
    if report.skipped and not is_allowed(report.nodeid):
        _fail(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn the report of a module that skips itself into that of one that cannot be read."""
    report = yield
    if report.skipped and not is_allowed(report.nodeid):
        _fail(report)
    return report
