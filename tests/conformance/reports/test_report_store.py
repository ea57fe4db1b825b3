"""One story for each store of reports: in memory, in files, on SQLite, on PostgreSQL (P10)."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import pytest

from supervisor.adapters.reports.memory import MemoryReports
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.reports import NumberedQuery, ReportPlace, ReportQuery, ReportStore
from supervisor.ports.store_problems import ContentRefused
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord
from tests.conformance.reports.report_stores import NOON, RESULT, SECOND, opener, report, subjects

STORED, CONFLICT, MISMATCH = StoreOutcome.STORED, StoreOutcome.CONFLICT, StoreOutcome.MISMATCH
AUDIT, EVENT, PROGRESS = RecordType.AUDIT, RecordType.EVENT, RecordType.PROGRESS
ALL = ReportQuery()
_KEPT = ["files", "sqlite", pytest.param("postgresql", marks=pytest.mark.pg)]


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store that outlives its process keeps its records."""
    if request.param == "files":
        return str(tmp_path / "reports")
    return str(request.getfixturevalue(f"reports_{request.param}_url"))


@pytest.fixture(params=["memory", *_KEPT])
def opens(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], ReportStore]:
    """Opens the same store again, as another process would."""
    if request.param == "memory":
        store = MemoryReports()
        return lambda: store
    if request.param == "files":
        return opener(str(tmp_path / "reports"))
    return opener(request.getfixturevalue(f"reports_{request.param}_url"))


@pytest.fixture
def store(opens: Callable[[], ReportStore]) -> Iterator[ReportStore]:
    """An empty store of each kind."""
    store = opens()
    yield store
    store.close()


def test_a_record_that_comes_again_is_a_conflict_and_no_second_row(store: ReportStore) -> None:
    """Source: P2."""
    r1, r2, r3, r4 = (report(f"t{n}", NOON + n * SECOND) for n in range(1, 5))
    outcomes = [store.put_many([each])[0] for each in (r1, r2, r1, r3, r4)]
    assert outcomes == [STORED, STORED, CONFLICT, STORED, STORED]
    assert store.list(ALL, 10) == [r4, r3, r2, r1]


def test_so_it_is_within_one_batch(store: ReportStore) -> None:
    """Source: II.11, trap 12."""
    r1, r2, r3 = (report(f"t{n}", NOON + n * SECOND) for n in range(1, 4))
    assert store.put_many([r1]) == [STORED]
    assert store.put_many([r2, r1, r2, r3]) == [STORED, CONFLICT, CONFLICT, STORED]
    assert store.list(ALL, 10) == [r3, r2, r1]
    assert store.put_many([]) == []


def test_another_content_under_the_same_id_is_a_mismatch_and_the_first_wins(
    store: ReportStore,
) -> None:
    first, second = report(payload={"rows": 1}), report(payload={"rows": 2})
    late = report(at=NOON + SECOND, payload={"rows": 1})
    assert store.put_many([first, second]) == [STORED, MISMATCH]
    assert store.put_many([second, late, first]) == [MISMATCH, MISMATCH, CONFLICT]
    assert store.get(first.record_id) == first


def test_a_record_is_returned_as_it_was_sent_also_to_another_process(
    store: ReportStore, opens: Callable[[], ReportStore]
) -> None:
    sent = report(
        "index_klicks_ä",
        worker="w.1_a",
        supervisor="s",
        data_source="clicks",
        status="FAILED",
        payload={"text": 'a "quoted" \\u0000 NaN\n\x1b[31m😀', "deep": [{"n": 1.5}, None, True]},
    ).model_copy(update={"final": True, "debug": True, "dropped": {PROGRESS: 3}})
    assert store.put_many([sent]) == [STORED]
    assert store.get(sent.record_id) == sent
    assert store.get("0" * 32) is None
    other = opens()
    assert other.get(sent.record_id) == sent
    assert other.put_many([sent]) == [CONFLICT]
    other.close()


def test_a_list_goes_page_by_page_through_equal_times(store: ReportStore) -> None:
    records = [report(f"t{n}", NOON + n // 4 * SECOND) for n in range(20)]
    store.put_many(records)
    wanted = sorted(records, key=lambda each: (each.at, each.record_id), reverse=True)
    assert store.list(ALL, 100) == wanted
    listed: list[ReportRecord] = []
    query = ALL
    while page := store.list(query, 3):
        listed += page
        query = replace(query, after=ReportPlace(page[-1].at, page[-1].record_id))
    assert listed == wanted


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (ALL, "edcba"),
        (ReportQuery(types=frozenset({PROGRESS})), "db"),
        (ReportQuery(types=frozenset({PROGRESS, RESULT})), "dcba"),
        (ReportQuery(types=frozenset({RESULT}), status="FAILED"), "c"),
        (ReportQuery(types=frozenset({RESULT}), attempt=2), "c"),
        (ReportQuery(subject="b"), "b"),
        (ReportQuery(subject="c", attempt=1), ""),
        (ReportQuery(subject="c", attempt=2), "c"),
        (ReportQuery(supervisor="s1"), "ba"),
        (ReportQuery(supervisor="s1", types=frozenset({RESULT})), "a"),
        (ReportQuery(data_source="x"), "ca"),
        (ReportQuery(worker="w2"), "dc"),
        (ReportQuery(origin=RecordOrigin.STREAM), "edcba"),
        (ReportQuery(origin=RecordOrigin.EXECUTION), ""),
        (ReportQuery(types=frozenset({RESULT}), origin=RecordOrigin.EXECUTION), ""),
        (ReportQuery(status="FAILED"), "c"),
        (ReportQuery(status="SUCCESS"), "a"),
        (ReportQuery(supervisor="s2", status="FAILED"), "c"),
        (ReportQuery(supervisor="s1", status="FAILED"), ""),
        (ReportQuery(since=NOON + SECOND), "edcb"),
        (ReportQuery(until=NOON + 2 * SECOND), "ba"),
        (ReportQuery(since=NOON + SECOND, until=NOON + 3 * SECOND, worker="w2"), "c"),
    ],
)
def test_a_list_is_narrowed(store: ReportStore, query: ReportQuery, wanted: str) -> None:
    store.put_many(
        [
            report("a", NOON, supervisor="s1", worker="w1", status="SUCCESS", data_source="x"),
            report("b", NOON + SECOND, kind=PROGRESS, supervisor="s1", worker="w1"),
            report(
                "c",
                NOON + 2 * SECOND,
                attempt=2,
                supervisor="s2",
                worker="w2",
                status="FAILED",
                data_source="x",
            ),
            report("d", NOON + 3 * SECOND, kind=PROGRESS, supervisor="s2", worker="w2"),
            report("e", NOON + 4 * SECOND, kind=EVENT, seq=7),
        ]
    )
    assert "".join(subjects(store.list(query, 10))) == wanted
    assert "".join(subjects(store.list(query, 1))) == wanted[:1]


def test_events_are_read_by_their_numbers(store: ReportStore) -> None:
    events = [report("events", NOON, kind=EVENT, seq=n) for n in range(1, 11)]
    audit = [report("audit", NOON, kind=RecordType.AUDIT, seq=n) for n in range(1, 4)]
    store.put_many([*reversed(events), *audit, report()])
    mine = NumberedQuery(EVENT, "events")
    assert store.numbered(mine, 4) == events[:4]
    assert store.numbered(replace(mine, above=4), 100) == events[4:]
    assert store.numbered(replace(mine, above=10), 100) == []
    back = replace(mine, below=8, newest_first=True)
    assert store.numbered(back, 3) == [events[6], events[5], events[4]]
    assert store.numbers(replace(back, above=5), 100) == [7, 6]
    assert store.numbered(NumberedQuery(RecordType.AUDIT, "audit", above=1), 100) == audit[1:]
    assert store.numbered(NumberedQuery(EVENT, "another"), 100) == []
    assert store.numbered(NumberedQuery(RESULT, "t1", above=-1), 100) == []


def test_events_of_a_supervisor_and_of_a_time_are_read_by_their_numbers(
    store: ReportStore,
) -> None:
    events = [
        report("events", NOON + n * SECOND, kind=EVENT, seq=n, supervisor=f"s{n % 2}")
        for n in range(1, 8)
    ]
    store.put_many([*events, report("events", NOON + 9 * SECOND)])
    mine = NumberedQuery(EVENT, "events", supervisor="s1", newest_first=True)
    assert store.numbered(mine, 3) == [events[6], events[4], events[2]]
    assert store.numbers(replace(mine, below=5), 9) == [3, 1]
    assert store.number_at(mine, NOON + 4 * SECOND) == 4
    assert store.number_at(mine, NOON + 99 * SECOND) == 7
    assert store.number_at(mine, NOON) == 0


def test_what_is_old_goes_in_batches_type_by_type(store: ReportStore) -> None:
    """Source: P15."""
    old = [report(f"t{n}", NOON + n * SECOND) for n in range(5)]
    young = report("young", NOON + 5 * SECOND)
    progress = report("p", NOON, kind=PROGRESS)
    store.put_many([*old, young, progress])
    deleted = [store.delete_older_than(RESULT, young.at, 2) for _ in range(4)]
    assert deleted == [2, 2, 1, 0]
    assert store.list(ALL, 10) == [young, progress]
    assert store.put_many([old[0]]) == [STORED]


def test_a_supervisors_records_go_in_batches(store: ReportStore) -> None:
    own = [report(f"t{n}", NOON, supervisor="s1") for n in range(3)]
    others = [report("o", NOON, supervisor="s2"), report("p", NOON)]
    young = report("young", NOON + SECOND, supervisor="s1")
    history = [report("all", NOON, kind=kind, supervisor="s1") for kind in (EVENT, AUDIT)]
    store.put_many([*own, *others, young, *history])
    deleted = [store.delete_of_supervisor("s1", young.at, 2) for _ in range(3)]
    assert deleted == [2, 1, 0]
    assert sorted(subjects(store.list(ALL, 10))) == ["all", "all", "o", "p", "young"]


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param({"subject": "a\0b"}, id="NUL in a column"),
        pytest.param({"payload": {"text": "a\0b"}}, id="NUL in the payload"),
        pytest.param({"payload": {"text": "a\ud800b"}}, id="half of a surrogate pair"),
        pytest.param({"supervisor": "\udfff"}, id="half of a surrogate pair in a column"),
        pytest.param({"type": RecordType.LOG_CHUNK, "seq": None, "offset": 0}, id="a log chunk"),
    ],
)
def test_what_can_never_be_stored_is_refused_with_its_whole_batch(
    store: ReportStore, bad: dict[str, object]
) -> None:
    """Source: II.11, trap 13; the caller halves the batch."""
    good = report("good")
    culprit = report("bad").model_copy(update=bad)
    with pytest.raises(ContentRefused):
        store.put_many([good, culprit])
    assert store.list(ALL, 10) == []
    assert store.put_many([good]) == [STORED]
    with pytest.raises(ContentRefused):
        store.put_many([culprit])


def test_writers_at_once_store_each_record_once(
    store: ReportStore, opens: Callable[[], ReportStore]
) -> None:
    """Goal: two persisters that got the same records, each in an order of its own."""
    records = [report(f"t{n}", NOON + n * SECOND) for n in range(200)]
    stores, together = [store, opens(), opens()], Barrier(3)

    def write(mine: ReportStore, turned: int) -> list[StoreOutcome]:
        order = records[turned:] + records[:turned]
        together.wait(60)
        return [
            outcome
            for start in range(0, len(order), 25)
            for outcome in mine.put_many(order[start : start + 25][:: 1 if turned else -1])
        ]

    with ThreadPoolExecutor(3) as pool:
        outcomes = [*pool.map(write, stores, (0, 70, 130))]
    flat = [outcome for each in outcomes for outcome in each]
    assert flat.count(STORED) == len(records)
    assert flat.count(CONFLICT) == 2 * len(records)
    assert len(store.list(ALL, 1_000)) == len(records)
    for other in stores[1:]:
        other.close()


def test_it_says_that_it_is_there_and_how_much_it_holds(store: ReportStore) -> None:
    store.ping()
    assert store.size_bytes() == 0
    store.put_many([report(payload={"text": "x" * 10_000})])
    assert 10_000 <= store.size_bytes() < 20_000


@pytest.mark.process
@pytest.mark.parametrize("place", _KEPT, indirect=True)
def test_what_was_acknowledged_survives_kill_9_and_nothing_is_half_there(place: str) -> None:
    """Source: II.8, row 1."""
    command = [sys.executable, "-m", "tests.conformance.reports.endless_writer", place]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    acknowledged = [int(writer.stdout.readline()) for _ in range(5)]
    writer.send_signal(signal.SIGKILL)
    acknowledged += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
    writer.stdout.close()
    assert writer.wait(60) == -signal.SIGKILL

    store = opener(place)()
    by_batch: dict[int, int] = {}
    for record in store.list(ALL, 1_000_000):
        by_batch[record.attempt] = by_batch.get(record.attempt, 0) + 1
    assert {*by_batch} >= {*acknowledged}
    assert {*by_batch.values()} == {50}
    again = [report(f"t{n}", attempt=acknowledged[-1]) for n in range(50)]
    assert [*store.put_many(again)] == [CONFLICT] * 50
    assert [*store.put_many([report("new", attempt=0)])] == [STORED]
    store.close()
