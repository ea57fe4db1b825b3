"""The incident bundle: nothing secret, nothing unbounded, and a manifest that says so."""

import json
from datetime import timedelta

import pytest

from supervisor.core.history.bundle import (
    LOG_BYTES_MAX,
    BundleFile,
    file_name_of,
    json_file,
    log_file,
    manifest_of,
    masked_values,
    packed,
    spec_diff,
    window_around,
)
from tasks.contract.masking import MASK, masked
from tests.supervisor.core.snapshots import NOON

WINDOW = window_around(NOON, timedelta(minutes=30))


def test_the_window_is_as_long_before_as_after() -> None:
    assert (WINDOW.begin.isoformat(), WINDOW.end.isoformat()) == (
        "2026-01-05T11:30:00+00:00",
        "2026-01-05T12:30:00+00:00",
    )


def test_texts_are_masked_by_themselves_and_by_the_name_beside_them() -> None:
    """Goal: a mask never breaks the document, however far it reaches in a text."""
    value = {
        "sasl.password": "hunter2-hunter2",
        "why": "login failed: sasl.password=hunter2-hunter2",
        "plain": "sasl",
        "list": [{"password": "hunter2-hunter2"}, "password=hunter2-hunter2", 7, None, True],
    }

    file = json_file("a.json", value, masked)

    assert b"hunter2" not in file.content
    read = json.loads(file.content)
    assert (read["sasl.password"], read["plain"]) == (MASK, "sasl")
    assert read["why"].startswith("login failed: sasl.password=")
    assert read["list"][2:] == [7, None, True]
    assert masked_values({"offset": 9_223_372_036_854_775_807}, masked) == {
        "offset": 9_223_372_036_854_775_807
    }


def test_a_log_is_its_last_whole_lines() -> None:
    lines = b"".join(b"line %06d of the log\n" % number for number in range(20_000))

    whole = log_file("a", lines[:2_000], 2_000, masked)
    tail = log_file("b", lines[-LOG_BYTES_MAX:], len(lines), masked)

    assert (whole.content, whole.cut) == (lines[:2_000], "")
    assert len(tail.content) <= LOG_BYTES_MAX
    assert tail.content.startswith(b"line ")
    assert lines.endswith(tail.content)
    assert tail.cut == f"the last {len(tail.content)} bytes of {len(lines)}"
    assert log_file("c", b"a\xff", 2, masked).content == b"a\\xff"


def test_what_does_not_fit_is_cut_or_left_out_and_the_manifest_says_so() -> None:
    files = [
        BundleFile("first.json", b"a" * 100),
        BundleFile("long.json", b"b" * 5_000),
        BundleFile("late.log", b"c" * 1_000),
        BundleFile("small.log", b"d"),
    ]

    bundle = packed(files, {"gone.log": "its worker is gone"}, size_bytes=3_700, file_bytes=1_500)

    assert [(each.name, len(each.content)) for each in bundle.files] == [
        ("first.json", 100),
        ("long.json", 1_500),
        ("small.log", 1),
    ]
    manifest = manifest_of("clicks", WINDOW, {"version": "1"}, bundle)
    assert manifest["window"] == {
        "from": "2026-01-05T11:30:00.000Z",
        "to": "2026-01-05T12:30:00.000Z",
    }
    assert manifest["files"] == [
        {"name": "first.json", "sizeBytes": 100, "cut": None},
        {"name": "long.json", "sizeBytes": 1_500, "cut": "the first 1500 bytes of 5000"},
        {"name": "small.log", "sizeBytes": 1, "cut": None},
    ]
    assert manifest["missing"] == [
        {"name": "gone.log", "why": "its worker is gone"},
        {"name": "late.log", "why": "the bundle is full: it has 1000 bytes"},
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a-b_c.1", "a-b_c.1"),
        ("../../etc/x", "_.._etc_x"),
        ("ö\r\n:", "____"),
        ("", "_"),
        ("..", "_"),
    ],
)
def test_a_name_leaves_no_folder(text: str, name: str) -> None:
    assert file_name_of(text) == name


def test_a_change_of_a_spec_is_a_diff() -> None:
    diff = spec_diff({"a": 1, "b": 2}, {"a": 1, "b": 3})

    assert [line for line in diff.splitlines() if line[0] in "+-"] == [
        *("--- older", "+++ newer", '-  "b": 2', '+  "b": 3'),
    ]
