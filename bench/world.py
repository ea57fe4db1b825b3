"""What benchmarks share: each run is made once, when the first figure asks for it."""

import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Self

from bench.batch_runs import BatchBench, CatchUp, Timed, measure_catch_up, measure_small
from bench.cold_run import Cold, measure_cold
from bench.compact_run import Compacted, measure_compaction
from bench.control_run import Passes, measure_passes
from bench.flows.idle import IdleRun, measure_idle
from bench.flows.lists import ListTimes, measure_lists
from bench.flows.load import BesideRun, BesideSizes, measure_beside, measure_live_beside
from bench.flows.runs import FlowRun, FlowSizes, measure_flows
from bench.flows.takeover import TakeoverRun, TakeoverSizes, measure_takeovers
from bench.live_run import Live, LiveSizes, measure_live
from bench.ranges_run import Grown, measure_ranges
from bench.records import fill
from bench.result import Spread
from bench.shapes import Shape
from bench.shapes_run import Shaped, measure_shape
from bench.stores.publish_run import measure_publishes
from bench.stores.queue_run import AddCost, Crowd, measure_add, measure_crowd
from bench.stores.report_run import ReportRates, measure_reports
from bench.year.console import ConsoleRun, measure_console
from bench.year.first_rows import FirstRowsRun, measure_first_rows
from bench.year.runs import FilesRun, FleetRun, YearRun, measure_files, measure_fleet, measure_year
from supervisor.dev.broker import Broker
from tasks.runtime.jars import FORMATS, SPARK
from tasks.spark.session import SparkOptions, start_spark
from tests.environment.brokers import shared_jars, shared_java, start_test_broker
from tests.environment.postgres import postgres

_SMALL_ROWS = 1_000
_BEYOND_ROWS = 20_000


@dataclass(frozen=True)
class Sizes:
    """How much work the runs do; `--quick` makes it little, to see that they run at all."""

    rows: int = 2_000_000
    shaped_rows: int = 1_000_000
    repeats: int = 3
    small_repeats: int = 15
    live: LiveSizes = field(default_factory=LiveSizes)
    cold_rows: int = 2_000_000
    cold_repeats: int = 3
    ranges: int = 2_000
    """The JVM compiles, and its heap finds its size, through the first 700 or so."""
    supervisors: int = 1_000
    publishes: int = 300
    report_turns: int = 10
    """Of 5,000 records each."""
    queues: int = 1_000
    watch_queues_s: float = 20
    days: int = 365
    """Of history, in the database of `bench size`."""
    files: int = 10_000
    """In the list of `file-pages`."""
    console_calls: int = 300
    """Of each question of a page."""
    page_loads: int = 20
    """First visits of a page, of each fleet."""
    offers: int = 20_000
    """Of `report-offer`, in each of its runs."""
    log_batches: int = 300
    log_chunks: int = 10_000_000
    """Of other logs, beside those of `log-read`."""
    flows: FlowSizes = field(default_factory=FlowSizes)
    takeovers: TakeoverSizes = field(default_factory=TakeoverSizes)
    idle_s: float = 60.0
    """For how long `flow-memory` looks."""
    beside: BesideSizes = field(default_factory=BesideSizes)
    executions: int = 100_000
    """In the lists of `flow-list`."""
    list_calls: int = 200
    """Of each filter."""


QUICK = Sizes(
    rows=400_000,
    shaped_rows=50_000,
    repeats=1,
    small_repeats=3,
    live=LiveSizes(first_topics=1, backlog_topics=1, rate_per_s=3_000, handoffs=2),
    cold_rows=20_000,
    cold_repeats=1,
    ranges=20,
    supervisors=100,
    publishes=50,
    report_turns=2,
    queues=100,
    watch_queues_s=1,
    days=1,
    files=200,
    console_calls=20,
    page_loads=2,
    offers=500,
    log_batches=20,
    log_chunks=20_000,
    flows=FlowSizes(steps_s=5, paced_s=2, fans=1, wide=200, bare_executions=2, bare_steps=4_000),
    takeovers=TakeoverSizes(rounds=1, live=200, restores=1),
    idle_s=2,
    beside=BesideSizes(turns=1, publishes=20, supervisors=10),
    executions=2_000,
    list_calls=10,
)


class World:
    """Runs and the processes they need; use it in a `with`.  One JVM with Spark at a time."""

    def __init__(self, folder: Path, sizes: Sizes) -> None:
        """Start nothing yet; everything is written below `folder`."""
        self.sizes = sizes
        self._folder = folder
        self._open = ExitStack()
        self._spark = ExitStack()
        self._flows: dict[str, FlowRun] = {}

    def __enter__(self) -> Self:
        """Nothing starts before it is asked for."""
        return self

    def __exit__(self, *_: object) -> None:
        """End all processes; say of a JVM that ended by itself how it did."""
        with self._open, self._spark:
            batches = self.__dict__.get("_batches")
            if isinstance(batches, BatchBench) and (how := batches.runtime.how_ended()):
                sys.stderr.write(f"Spark's JVM: {how}\n")

    def folder(self, name: str) -> Path:
        """Return a folder for the run of one figure; it is not created."""
        return self._folder / name

    @cached_property
    def catch_up(self) -> CatchUp:
        """Long batches, engine and bare job in turn."""
        # Whoever catches up does not read to the log's end, where a fetch waits for new records.
        filled = fill(self._broker.bootstrap, "long", self.sizes.rows + _BEYOND_ROWS)
        return measure_catch_up(self._batches, filled, self.sizes.rows, self.sizes.repeats)

    def shaped(self, shape: Shape) -> Shaped:
        """Batches of one shape, engine and bare job in turn."""
        rows = self.sizes.shaped_rows
        topic = self._broker.bootstrap, shape.name, rows + _BEYOND_ROWS
        filled = fill(*topic, shape.write)
        return measure_shape(self._batches, shape, filled, rows, self.sizes.repeats)

    @cached_property
    def compaction(self) -> Compacted:
        """Files of one chunk rewritten as one, engine and bare job in turn."""
        filled = fill(self._broker.bootstrap, "compacted", self.sizes.shaped_rows)
        return measure_compaction(self._batches, filled, self.sizes.repeats)

    @cached_property
    def small(self) -> Mapping[str, Timed]:
        """Batches of 1,000 records, engine and bare job in turn."""
        filled = fill(self._broker.bootstrap, "small", _SMALL_ROWS)
        return measure_small(self._batches, filled, self.sizes.small_repeats)

    @cached_property
    def live(self) -> Live:
        """The whole system as processes.  Ends the Spark of the figures above."""
        self._end_spark()
        return measure_live(self._broker.bootstrap, self._folder / "live", self.sizes.live)

    @cached_property
    def cold(self) -> Cold:
        """Workers that have just started, in turns.  Ends the Spark of the figures above."""
        self._end_spark()
        sizes, folder = self.sizes, self._folder / "cold"
        return measure_cold(self._broker.bootstrap, folder, sizes.cold_rows, sizes.cold_repeats)

    @cached_property
    def many_ranges(self) -> dict[str, Grown]:
        """The whole system as processes, through many ranges.  Ends the Spark of the others."""
        self._end_spark()
        return measure_ranges(self._broker.bootstrap, self._folder / "ranges", self.sizes.ranges)

    @cached_property
    def passes(self) -> tuple[Passes, Passes]:
        """Passes over a tenth of the supervisors, then over all of them."""
        few, many = self.sizes.supervisors // 10, self.sizes.supervisors
        folder = self._folder / "passes"
        return measure_passes(folder, few), measure_passes(folder, many)

    @cached_property
    def publishes_sqlite(self) -> Spread:
        """Milliseconds of publish transactions."""
        url = f"sqlite:///{self._folder}/publish.db"
        return measure_publishes(url, self.sizes.publishes)

    @cached_property
    def publishes_postgresql(self) -> Spread:
        """Milliseconds of publish transactions, on a server of this run."""
        with postgres() as server, server.database() as url:
            return measure_publishes(url, self.sizes.publishes)

    @cached_property
    def reports_sqlite(self) -> ReportRates:
        """Reports into a file, by turns with a bare loop into another one."""
        folder = self._folder.as_posix()
        urls = (f"sqlite:///{folder}/reports.db", f"sqlite:///{folder}/bare.db")
        return measure_reports(*urls, self.sizes.report_turns)

    @cached_property
    def reports_postgresql(self) -> ReportRates:
        """The same in two databases of a server of this run."""
        with postgres() as server, server.database() as url, server.database() as bare_url:
            return measure_reports(url, bare_url, self.sizes.report_turns)

    @cached_property
    def event_add(self) -> AddCost:
        """Publishes with their cleanup event and without."""
        return measure_add(f"sqlite:///{self._folder}/event-add.db", self.sizes.publishes)

    @cached_property
    def queues(self) -> Crowd:
        """Many event queues at rest."""
        return measure_crowd(self._folder / "queues", self.sizes.queues, self.sizes.watch_queues_s)

    @cached_property
    def year(self) -> YearRun:
        """A metadata database with a year of history, beside an empty one."""
        return measure_year(self._folder / "year", self.sizes.days, self.sizes.publishes)

    @cached_property
    def fleet(self) -> FleetRun:
        """A large fleet without history."""
        return measure_fleet(self._folder / "fleet", self.sizes.supervisors)

    @cached_property
    def consoles(self) -> tuple[ConsoleRun, ConsoleRun]:
        """Pages of a tenth of the fleet, then of all of it."""
        few, many = self.sizes.supervisors // 10, self.sizes.supervisors
        folder, calls = self._folder / "console", self.sizes.console_calls
        return measure_console(folder, few, calls), measure_console(folder, many, calls)

    @cached_property
    def first_rows(self) -> tuple[FirstRowsRun, FirstRowsRun]:
        """First visits to a hundredth of the fleet, then to all of it."""
        few, many = self.sizes.supervisors // 100, self.sizes.supervisors
        folder, loads = self._folder / "pages", self.sizes.page_loads
        return measure_first_rows(folder, few, loads), measure_first_rows(folder, many, loads)

    def flows(self, engine: str) -> FlowRun:
        """Flows on one engine: `kafka`, `sqlite` or `postgresql`.  Ends the Spark of the others."""
        if engine not in self._flows:
            self._end_spark()
            brokers = self._broker.bootstrap if engine == "kafka" else None
            kind = "sqlite" if engine == "kafka" else engine
            folder = self._folder / f"flows-{engine}"
            self._flows[engine] = measure_flows(folder, kind, brokers, self.sizes.flows)
        return self._flows[engine]

    @cached_property
    def takeovers(self) -> TakeoverRun:
        """Executors that end, and partitions that others take over.  Ends the Spark of others."""
        self._end_spark()
        folder = self._folder / "takeovers"
        return measure_takeovers(folder, self._broker.bootstrap, self.sizes.takeovers)

    @cached_property
    def idle_executor(self) -> IdleRun:
        """An executor and a persister in one process, at rest.  Ends the Spark of the others."""
        self._end_spark()
        return measure_idle(self._folder / "idle", self._broker.bootstrap, self.sizes.idle_s)

    @cached_property
    def beside_steps(self) -> BesideRun:
        """Publishes and passes, by turns with steps and without.  Ends the Spark of the others."""
        self._end_spark()
        folder = self._folder / "beside"
        return measure_beside(folder, self._broker.bootstrap, self.sizes.beside)

    @cached_property
    def live_beside_steps(self) -> Live:
        """The whole system as processes, beside steps.  Ends the Spark of the figures above."""
        self._end_spark()
        folder = self._folder / "live-beside"
        return measure_live_beside(folder, self._broker.bootstrap, self.sizes.live)

    def execution_lists(self, kind: str) -> Mapping[str, ListTimes]:
        """Return what pages of many executions take, by filter."""
        folder = self._folder / f"lists-{kind}"
        return measure_lists(folder, kind, self.sizes.executions, self.sizes.list_calls)

    @cached_property
    def files(self) -> FilesRun:
        """One table of many files with many offset spans."""
        return measure_files(self._folder / "files", self.sizes.files)

    def _end_spark(self) -> None:
        self.__dict__.pop("_batches", None)
        self._spark.close()

    @cached_property
    def _broker(self) -> Broker:
        return self._open.enter_context(start_test_broker(self._folder / "broker"))

    @cached_property
    def _batches(self) -> BatchBench:
        cores = os.cpu_count() or 1
        work = self._folder / "spark"
        jars = shared_jars(SPARK) + shared_jars(FORMATS)
        options = SparkOptions(shared_java(), jars, work, master=f"local[{cores}]")
        runtime = start_spark(options)
        self._spark.callback(runtime.stop)
        warehouse = self._folder / "warehouse"
        warehouse.mkdir()
        return BatchBench(runtime, self._broker.bootstrap, warehouse)
