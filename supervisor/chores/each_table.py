"""One table's trouble stays its own: a duty that goes over tables goes on with the next one."""

from collections.abc import Callable, Iterable

import structlog

from supervisor.core.values.errors import LeaseLost, MetadataUnavailable, SupervisorError

log = structlog.get_logger()


def each_table(
    duty: str, work: Iterable[tuple[str, Callable[[], int]]], *, of: str = "table"
) -> int:
    """Do the work of each table; return the sum of what it returns.

    What fails for one table is logged, and the next run of the duty tries that table again.  `of`
    is the log's name for what the work is divided by.

    Raises:
        LeaseLost, MetadataUnavailable: at once, because other tables would fail for that reason.
        Exception: the first bug that a table met, after the last table.
    """
    total, bugs = 0, list[Exception]()
    for name, act in work:
        try:
            total += act()
        except (LeaseLost, MetadataUnavailable):
            raise
        except SupervisorError as error:
            log.warning("a duty failed in part", duty=duty, **{of: name}, why=str(error))
        except Exception as error:
            log.exception("a duty failed in part", duty=duty, **{of: name})
            bugs.append(error)
    if bugs:
        raise bugs[0]
    return total
