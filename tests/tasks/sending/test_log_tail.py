"""Logs as chunks: every byte once and in its place, over restarts, at the pace of the lines."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tasks.sending.log_tail import WAITS_S, LogPiece, LogTail

TASK, ABOUT = "task-1", {"supervisor": "clicks", "attempt": 2}


class Site:
    """One folder, one task, and the store that has what was sent."""

    def __init__(self, folder: Path, chunk_bytes: int = 64) -> None:
        self.folder, self.chunk_bytes = folder, chunk_bytes
        self.open, self.now, self.stored = True, 0.0, ""
        self.has_ended = False
        self.tail = self._tail()
        self.tail.begin(TASK, ABOUT)

    def _tail(self) -> LogTail:
        return LogTail(self.folder, lambda _: self.open, self.chunk_bytes)

    def restart(self) -> None:
        """Begin anew on the same folder, without the task."""
        self.open = False
        self.tail = self._tail()

    def write(self, text: str) -> None:
        with (self.folder / f"{TASK}.log").open("a") as file:
            file.write(text)

    def pieces(self, after_s: float = WAITS_S) -> list[LogPiece]:
        self.now += after_s
        return [*self.tail.due(self.now)]

    def store(self, piece: LogPiece) -> None:
        """Store a piece where it belongs; a repeat changes nothing."""
        assert piece.offset <= len(self.stored), "a hole"
        overlap = self.stored[piece.offset : piece.end]
        assert piece.text.startswith(overlap)
        self.stored += piece.text[len(overlap) :]
        self.has_ended |= piece.ends

    def drain(self) -> None:
        for _ in range(1_000):
            pieces = self.pieces() or self.pieces()  # the first look sees that lines wait
            if not pieces:
                return
            for piece in pieces:
                self.store(piece)
                self.tail.sent(piece)
        pytest.fail("it does not end")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


class Logs(RuleBasedStateMachine):
    """A task that logs and ends, a sender that dies, a store that refuses now and then."""

    def __init__(self) -> None:
        super().__init__()
        self._temporary = TemporaryDirectory()
        self.site = Site(Path(self._temporary.name))
        self.written = ""

    def teardown(self) -> None:
        """Send the rest: all of it is there, once; then remove the files."""
        self.site.open = False
        self.site.drain()
        assert self.site.stored == self.written
        assert self.site.has_ended == (self.site.folder / f"{TASK}.log").exists()
        assert self.site.tail.unsent_bytes(TASK) == 0
        self._temporary.cleanup()

    @precondition(lambda self: self.site.open)
    @rule(lines=st.lists(st.text("ab ", max_size=90), max_size=5))
    def write(self, lines: list[str]) -> None:
        text = "".join(f"{line}\n" for line in lines)
        self.site.write(text)
        self.written += text

    @rule(after_s=st.sampled_from([0.0, 1.0, WAITS_S]), is_stored=st.booleans())
    def send(self, after_s: float, is_stored: bool) -> None:
        for piece in self.site.pieces(after_s):
            if is_stored:
                self.site.store(piece)
                self.site.tail.sent(piece)
            else:
                self.site.tail.again(TASK)

    @rule()
    def store_and_die(self) -> None:
        """Goal: what was stored and not noted is sent again as a repeat."""
        for piece in self.site.pieces():
            self.site.store(piece)
        self.site.restart()

    @invariant()
    def the_store_has_a_beginning(self) -> None:
        assert self.written.startswith(self.site.stored)


TestLogs = Logs.TestCase


def test_a_line_waits_two_seconds_for_others_and_a_chunk_does_not(site: Site) -> None:
    site.write("first\n")
    assert site.pieces(after_s=0.0) == []
    assert site.pieces(after_s=1.0) == []

    [piece] = site.pieces(after_s=1.0)
    assert (piece.text, piece.offset, piece.ends) == ("first\n", 0, False)
    assert piece.about == ABOUT

    site.write("x" * 39 + "\n" + "y" * 39 + "\n")
    [piece] = site.pieces(after_s=0.0)
    assert piece.text == "x" * 39 + "\n", "whole lines alone"
    assert site.pieces(after_s=0.0) == []


def test_the_end_of_a_task_is_sent_at_once_also_without_a_line(site: Site) -> None:
    site.write("first\n")
    site.drain()
    assert not site.tail.is_whole(TASK)

    site.open = False
    [piece] = site.pieces(after_s=0.0)

    assert (piece.text, piece.offset, piece.ends) == ("", 6, True)
    site.tail.sent(piece)
    assert site.tail.is_whole(TASK)
    assert site.pieces() == []


def test_what_is_no_text_keeps_its_place(site: Site) -> None:
    (site.folder / f"{TASK}.log").write_bytes(b"a\0\xff\n\xc3\xa4 without an end")
    site.open = False

    [piece] = site.pieces()

    assert piece.text == "a??\n?? without an end"
    assert piece.ends


def test_a_log_of_nobody_that_is_known_is_sent_as_well(site: Site) -> None:
    (site.folder / f"{TASK}.about").write_text("no JSON")
    site.write("a\n")
    site.open = False

    [piece] = site.pieces()

    assert (piece.about, piece.text) == ({}, "a\n")
