"""The search in the warnings and errors of stored logs, on every store alike."""

from dataclasses import replace

from supervisor.core.reports.grave import GraveLevel
from supervisor.ports.reports.logs import GravePlace, LogQuery, LogStore
from tests.conformance.reports.log_chunks import HOUR, NOON, SECOND, TASK, chunk, line

SENT = NOON + 2 * HOUR


def test_a_search_lists_from_the_newest_and_goes_on_behind_a_place(log_store: LogStore) -> None:
    lines = [line("ERROR", f"disk {number}", number) for number in range(7)]
    log_store.put_many(
        [
            chunk(
                each, subject=f"task-{number % 2}", attempt=number, at=NOON + number // 3 * SECOND
            )
            for number, each in enumerate(lines)
        ]
    )
    everything = [hit.place for hit in log_store.search(LogQuery(), 100).hits]
    assert len(everything) == len(lines)
    assert everything == sorted(everything, reverse=True)
    paged: list[GravePlace] = []
    while hits := log_store.search(LogQuery(after=paged[-1] if paged else None), 2).hits:
        paged += [hit.place for hit in hits]
    assert paged == everything
    assert list(log_store.search(LogQuery(), 0).hits) == []


def test_a_search_narrows_by_level_and_text(log_store: LogStore) -> None:
    texts = [
        ("WARNING", "Disk at 100%"),
        ("ERROR", "disk_full"),
        ("CRITICAL", "DISKXFULL"),
        ("INFO", "disk"),
    ]
    log_store.put_many([chunk(b"".join(line(*each) for each in texts))])

    def lines(query: LogQuery) -> list[str]:
        return sorted(
            hit.line.text.split(maxsplit=2)[2] for hit in log_store.search(query, 10).hits
        )

    assert lines(LogQuery()) == ["DISKXFULL", "Disk at 100%", "disk_full"]
    assert lines(LogQuery(level=GraveLevel.ERROR)) == ["DISKXFULL", "disk_full"]
    assert lines(LogQuery(level=GraveLevel.CRITICAL)) == ["DISKXFULL"]
    assert lines(LogQuery(text="DISK")) == ["DISKXFULL", "Disk at 100%", "disk_full"]
    assert lines(LogQuery(text="k_f")) == ["disk_full"]
    assert lines(LogQuery(text="0%")) == ["Disk at 100%"]
    assert lines(LogQuery(text="%k%")) == []
    assert lines(LogQuery(text="/")) == []
    assert lines(LogQuery(text="\\")) == []


def test_a_search_narrows_by_whose_log_it_is_and_when(log_store: LogStore) -> None:
    of_one = chunk(
        line("ERROR", "one"), subject="a", supervisor="s1", data_source="d1", worker="w1", at=SENT
    )
    later = NOON + HOUR
    of_two = chunk(
        line("ERROR", "two", 3600),
        subject="b",
        supervisor="s2",
        data_source="d2",
        worker="w2",
        at=SENT,
    )
    bare = chunk(
        line("ERROR", "bare", 3600),
        subject="c",
        supervisor=None,
        data_source=None,
        worker=None,
        at=SENT,
    )
    log_store.put_many([of_one, of_two, bare])

    def subjects(query: LogQuery) -> list[str]:
        return [hit.place.subject for hit in log_store.search(query, 10).hits]

    assert subjects(LogQuery(subject="a")) == ["a"]
    assert subjects(LogQuery(supervisor="s2")) == ["b"]
    assert subjects(LogQuery(data_source="d1")) == ["a"]
    assert subjects(LogQuery(worker="w2")) == ["b"]
    assert subjects(LogQuery(since=later)) == ["c", "b"]
    assert subjects(LogQuery(until=later)) == ["a"]
    assert subjects(LogQuery(tables=["d*"])) == ["b", "a"]
    assert subjects(LogQuery(tables=["x", "d1"], supervisor="s1")) == ["a"]
    assert subjects(LogQuery(tables=["D1"])) == subjects(LogQuery(tables=[])) == []
    hit = log_store.search(LogQuery(subject="b"), 1).hits[0]
    assert (hit.supervisor, hit.data_source, hit.worker) == ("s2", "d2", "w2")
    assert hit.place == GravePlace(later, "b", 0, 0)
    assert (hit.line.level, hit.line.text) == (GraveLevel.ERROR, of_two.grave[0].text)


def test_a_page_of_one_owner_goes_on_behind_a_place_of_another_list(log_store: LogStore) -> None:
    """Goal: a list that is narrowed between two pages repeats no line and leaves none out."""
    log_store.put_many(
        [chunk(line("ERROR", "x") * 3, subject=each, supervisor=each) for each in ("a", "b", "c")]
    )
    everything = [hit.place for hit in log_store.search(LogQuery(), 10).hits]
    for number, place in enumerate(everything):
        for subject in ("a", "b", "c"):
            behind = LogQuery(subject=subject, after=place)
            wanted = [each for each in everything[number + 1 :] if each.subject == subject]
            assert [hit.place for hit in log_store.search(behind, 10).hits] == wanted


def test_a_page_says_where_it_goes_on(log_store: LogStore) -> None:
    log_store.put_many([chunk(line("ERROR", "x") * 4 + line("WARNING", "x"))])
    for query in (LogQuery(), LogQuery(subject=TASK), LogQuery(level=GraveLevel.ERROR)):
        page = log_store.search(query, 2)
        assert page.behind == page.hits[-1].place
        rest = log_store.search(replace(query, after=page.behind), 3)
        assert rest.behind is None
        assert len(rest.hits) == (2 if query.level else 3)


def test_a_line_has_its_own_time_unless_that_is_after_its_log(log_store: LogStore) -> None:
    """Goal: a log that is sent hours later, as behind an outage, is found where it happened."""
    lines = line("ERROR", "early") + line("ERROR", "future", 24 * 3600)
    odd = b"2026-99-99T99 ERROR   no time\n2026-11-28T09:00:00 ERROR   no zone\n"
    log_store.put_many([chunk(lines + odd, at=SENT)])
    hits = log_store.search(LogQuery(), 10).hits
    assert {hit.line.text.split(maxsplit=2)[2]: hit.place.at for hit in hits} == {
        "early": NOON,
        "future": SENT,
        "no time": SENT,
        "no zone": SENT,
    }


def test_a_line_that_comes_in_two_chunks_is_listed_once(log_store: LogStore) -> None:
    first, second = line("INFO", "begin"), line("ERROR", "disk")
    log_store.put_many([chunk(first + second), chunk(second, len(first))])
    log_store.put_many([chunk(first + second + line("ERROR", "again"))])
    offsets = [hit.place.offset for hit in log_store.search(LogQuery(), 10).hits]
    assert offsets == [len(first + second), len(first)]
