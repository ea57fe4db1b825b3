"""One file per figure, all of one shape: `NAME`, and `run(world) -> Result`; `shaped` is several.

The order here is that of the page; figures that look at the same run stand together.  The folder
of a figure is its group: `python -m bench size` runs all of `size/`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from bench.figures.console import (
    first_rows,
    list_fleet,
    open_list,
    overview_fleet,
    partitions_fleet,
)
from bench.figures.flows import bare, beside, fan, latency, lists, memory, steps, takeover
from bench.figures.handoff import (
    end_to_commit,
    end_to_commit_live,
    handoff_gap,
    pause,
    post_to_batch,
    task_duration,
)
from bench.figures.ingest import (
    bytes_per_row,
    catch_up,
    catch_up_cpu,
    cold,
    compaction,
    many_ranges,
    merged,
    resident_memory,
    shaped,
    small_batch,
)
from bench.figures.metadata import (
    close_queues,
    event_add,
    idle_queues,
    pass_time,
    publish_postgresql,
    publish_sqlite,
    status_time,
)
from bench.figures.reports import (
    log_read,
    log_store,
    report_offer,
    report_store,
    report_store_postgresql,
)
from bench.figures.size import (
    answers_year,
    bytes_year,
    file_pages,
    news_fleet,
    news_year,
    pass_fleet,
    pass_year,
    publish_year,
    sync_fleet,
    sync_year,
)
from bench.result import Result
from bench.world import World

BENCHMARKS: Mapping[str, Callable[[World], Result]] = MappingProxyType(
    {
        **{
            module.NAME: module.run
            for module in (catch_up, catch_up_cpu, merged, bytes_per_row, small_batch)
        },
        **shaped.FIGURES,
        compaction.NAME: compaction.run,
        cold.NAME: cold.run,
        **{
            module.NAME: module.run
            for module in (
                post_to_batch,
                end_to_commit,
                handoff_gap,
                pause,
                task_duration,
                end_to_commit_live,
                resident_memory,
                many_ranges,
                pass_time,
                status_time,
                publish_sqlite,
                publish_postgresql,
                event_add,
                idle_queues,
                close_queues,
                log_store,
                log_read,
                report_store,
                report_store_postgresql,
                report_offer,
                sync_year,
                news_year,
                pass_year,
                publish_year,
                answers_year,
                bytes_year,
                sync_fleet,
                news_fleet,
                pass_fleet,
                file_pages,
                overview_fleet,
                list_fleet,
                partitions_fleet,
                open_list,
                first_rows,
            )
        },
        **steps.FIGURES,
        bare.NAME: bare.run,
        **latency.FIGURES,
        **fan.FIGURES,
        **takeover.FIGURES,
        memory.NAME: memory.run,
        **beside.FIGURES,
        **lists.FIGURES,
    }
)
"""Name -> what measures it."""


def _groups() -> dict[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = {}
    for name, measure in BENCHMARKS.items():
        groups.setdefault(measure.__module__.split(".")[-2], []).append(name)
    return {group: tuple(names) for group, names in groups.items()}


GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(_groups())
"""Folder -> the names of its figures."""
