"""The desk for dead letters: listed, replayed, dropped; noted once, and harmless when repeated."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from supervisor.adapters.reports.database import ReportDatabase, migrate_reports
from supervisor.adapters.reports.dead_letter_files import DeadLetterFiles
from supervisor.adapters.reports.kept_letter_files import KeptLetterFiles
from supervisor.adapters.reports.letter_marks import SqlLetterMarks
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.dead_letters import DeadLetter
from supervisor.ports.reports.kept_letters import LetterMark, LetterPlace
from supervisor.ports.reports.reports import ReportQuery
from supervisor.ports.store_problems import StoreAway
from supervisor.reports.door import NotNow
from supervisor.reports.letters import LetterDesk, LetterQuery
from supervisor.reports.pipeline import Pipeline
from tests.supervisor.reports.shelves import NOW, Shelves, garbage, record


@dataclass
class _Desk:
    """A desk over files, with the stores behind it."""

    desk: LetterDesk
    shelves: Shelves
    files: DeadLetterFiles
    marks: SqlLetterMarks

    def keep(self, *bodies: bytes, reason: str = "an unknown version") -> None:
        """Keep letters, one after the other."""
        for number, body in enumerate(bodies):
            self.files.put([DeadLetter(b"key", body, "completed.default", 2, number, reason)])

    def places(self, query: LetterQuery | None = None) -> list[LetterPlace]:
        """Return the places of a first page."""
        return [each.kept.place for each in self.desk.page(query or LetterQuery(), 100).letters]

    def subjects(self) -> list[str]:
        """Return what is stored."""
        return [each.subject for each in self.shelves.reports.list(ReportQuery(), 100)]


@pytest.fixture
def some(tmp_path: Path) -> Iterator[_Desk]:
    url = f"sqlite:///{tmp_path}/reports.db"
    migrate_reports(url)
    database = ReportDatabase(url)
    shelves, marks = Shelves(), SqlLetterMarks(database)
    files = DeadLetterFiles(tmp_path / "letters")
    pipeline = Pipeline(shelves.storing())
    pipeline.resume()  # it runs, and has no writers: a replay needs none
    kept = KeptLetterFiles(tmp_path / "letters", "p-1")
    desk = LetterDesk(kept, marks, lambda: NOW, shelves.storing(), pipeline)
    yield _Desk(desk, shelves, files, marks)
    database.close()


def _good(subject: str = "task") -> bytes:
    return record(subject).to_json().encode()


def test_letters_are_listed_from_the_newest_on_page_by_page(some: _Desk) -> None:
    some.keep(*(b"bad %d" % number for number in range(7)))

    pages, query = [], LetterQuery()
    while True:
        page = some.desk.page(query, 3)
        pages.append([each.kept.letter.body for each in page.letters])
        if page.more is None:
            break
        query = LetterQuery(before=page.more)

    assert [body for page in pages for body in page] == [b"bad %d" % n for n in range(6, -1, -1)]
    assert max(map(len, pages)) == 3
    assert some.desk.waiting() == 7


def test_a_list_has_the_beginning_of_a_large_letter_and_its_size(some: _Desk) -> None:
    some.keep(b"x" * 100_000)

    [listed] = some.desk.page(LetterQuery(), 10).letters
    whole = some.desk.get(listed.kept.place)

    assert (len(listed.kept.letter.body), listed.size_bytes) == (1_000, 100_000)
    assert whole is not None
    assert len(whole.kept.letter.body) == 100_000
    assert whole.sha256 == listed.sha256


def test_a_list_is_narrowed_by_reason_and_by_partition(some: _Desk) -> None:
    some.keep(b"a", reason="Unknown version 9")
    some.keep(b"b", reason="no JSON")

    [place] = some.places(LetterQuery(reason="unknown VERSION"))
    letter = some.desk.get(place)

    assert letter is not None
    assert letter.kept.letter.body == b"a"
    assert len(some.places(LetterQuery(partition=place.partition))) == 2
    assert some.places(LetterQuery(partition=1)) == []


def test_a_replay_stores_what_can_be_stored_now_and_is_noted(some: _Desk) -> None:
    some.keep(_good())
    [place] = some.places()

    letter = some.desk.replay(place, "ada", "the schema is known now")

    assert letter is not None
    assert letter.mark is not None
    assert (letter.mark.outcome, letter.mark.by) == (StoreOutcome.STORED, "ada")
    assert (letter.mark.reason, letter.mark.at) == ("the schema is known now", NOW)
    assert some.subjects() == ["task"]
    assert some.places() == []
    assert some.places(LetterQuery(handled=True)) == [place]
    assert some.desk.waiting() == 0


def test_a_replay_that_is_repeated_changes_nothing(some: _Desk) -> None:
    some.keep(_good())
    [place] = some.places()
    first = some.desk.replay(place, "ada", "")

    assert some.desk.replay(place, "bob", "again") == first
    dropped = some.desk.drop(place, "bob", "too late")
    assert dropped == first
    assert some.subjects() == ["task"]


def test_a_replay_that_ended_before_its_note_is_repeated_without_harm(
    some: _Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    some.keep(_good())
    [place] = some.places()
    note = some.marks.note

    def is_killed(*_: object) -> None:
        raise StoreAway("the process ended here")

    monkeypatch.setattr(some.marks, "note", is_killed)
    with pytest.raises(StoreAway):
        some.desk.replay(place, "ada", "")
    assert some.places() == [place]

    monkeypatch.setattr(some.marks, "note", note)
    letter = some.desk.replay(place, "ada", "")
    assert letter is not None
    assert letter.mark is not None
    assert letter.mark.outcome is StoreOutcome.CONFLICT
    assert some.subjects() == ["task"]


def test_a_refused_replay_says_why_and_keeps_one_letter(some: _Desk) -> None:
    some.keep(garbage())
    [place] = some.places()

    letter = some.desk.replay(place, "ada", "")

    assert letter is not None
    assert letter.mark is not None
    assert letter.mark.outcome is StoreOutcome.REJECTED
    assert "version" in letter.mark.detail
    assert some.places() == [place]
    assert some.shelves.letters.kept == []
    assert some.desk.waiting() == 1


def test_a_dropped_letter_is_noted_and_can_still_be_replayed(some: _Desk) -> None:
    some.keep(_good())
    [place] = some.places()

    first = some.desk.drop(place, "ada", "a test of ours")
    assert first is not None
    assert first.mark is not None
    assert (first.mark.outcome, first.mark.is_handled) == (None, True)
    assert some.desk.drop(place, "bob", "") == first
    assert some.places() == []

    letter = some.desk.replay(place, "bob", "it was no test")
    assert letter is not None
    assert letter.mark is not None
    assert letter.mark.outcome is StoreOutcome.STORED


def test_another_letter_in_the_place_of_a_handled_one_is_listed(some: _Desk) -> None:
    """As in a topic that was deleted and made anew."""
    some.keep(_good("first"))
    [place] = some.places()
    marked = some.desk.drop(place, "ada", "")
    assert marked is not None
    assert marked.mark is not None
    other = LetterMark(marked.mark.verb, None, "", "ada", "", NOW, b"of another letter")
    some.marks.note(some.desk.letters.source, place, other)

    assert some.places() == [place]


@pytest.mark.parametrize("call", ["replay", "drop", "get"])
def test_a_letter_that_is_not_there_is_none(some: _Desk, call: str) -> None:
    verbs: dict[str, Callable[[LetterPlace], object]] = {
        "get": some.desk.get,
        "replay": lambda place: some.desk.replay(place, "ada", ""),
        "drop": lambda place: some.desk.drop(place, "ada", ""),
    }
    assert verbs[call](LetterPlace(20_260_101, 0)) is None


def test_a_paused_persister_replays_nothing(some: _Desk) -> None:
    some.keep(_good())
    [place] = some.places()
    some.desk.pipeline.pause("paused by an operator")

    with pytest.raises(NotNow, match="paused by an operator"):
        some.desk.replay(place, "ada", "")

    assert some.places() == [place]
    assert some.subjects() == []


def test_the_half_of_a_letter_that_a_crash_left_is_passed_by(some: _Desk, tmp_path: Path) -> None:
    some.keep(b"whole")
    [path] = (tmp_path / "letters").iterdir()
    with path.open("ab") as file:
        file.write(b'{"at": "2026-')
    some.keep(b"next")

    page = some.desk.page(LetterQuery(), 10)

    assert [each.kept.letter.body for each in page.letters] == [b"next", b"whole"]
    assert some.desk.waiting() == 2
