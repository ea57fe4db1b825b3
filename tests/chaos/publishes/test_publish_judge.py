"""The judge of publishes finds each trouble that it is there for."""

import json

import pytest

from tests.chaos.publishes.judge import COALESCED, EACH, judge_publishes
from tests.environment.execution_topics import ReadRecord

_PUBLISHED = ("a", "b", "c")


class _Heads:
    """Records of executions as they would be read."""

    def __init__(self) -> None:
        self.records: list[ReadRecord] = []

    def add(self, name: str, version: int, state: str, *named: str) -> None:
        head = {
            "version": version,
            "state": state,
            "trigger": {"publishes": [{"id": each} for each in named]},
        }
        value = json.dumps(head).encode()
        self.records.append(ReadRecord(0, len(self.records), f"e/{name}", value, {}))

    def troubles(self) -> list[str]:
        return judge_publishes(_PUBLISHED, self.records).troubles


@pytest.fixture
def heads() -> _Heads:
    """Three publishes, of which two were named together."""
    heads = _Heads()
    for each in _PUBLISHED:
        heads.add(f"{EACH}:seen:{each}", 1, "RUNNING", each)
        heads.add(f"{EACH}:seen:{each}", 2, "SUCCESS", each)
    heads.add(f"{COALESCED}:seen:a.1", 1, "SUCCESS", "a")
    heads.add(f"{COALESCED}:seen:b.2", 1, "SUCCESS", "b", "c")
    heads.records.append(ReadRecord(0, 99, "e/x/plan", b"{}", {}))
    heads.records.append(ReadRecord(0, 100, "g/gate", b"{}", {}))
    return heads


def test_what_is_well_has_no_trouble(heads: _Heads) -> None:
    verdict = judge_publishes(_PUBLISHED, heads.records)

    assert verdict.troubles == []
    assert (verdict.publications, verdict.most) == (3, 2)
    assert verdict.executions == {EACH: 3, COALESCED: 2}


def test_one_that_nobody_names_is_found(heads: _Heads) -> None:
    del heads.records[4:6]

    assert heads.troubles() == [f"{EACH}: not named: 1, such as ['c']"]


@pytest.mark.parametrize(
    ("name", "state", "named", "trouble"),
    [
        (f"{EACH}:seen:d", "SUCCESS", "d", f"{EACH}: named, and never published: 1, such as ['d']"),
        (f"{COALESCED}:seen:c.3", "SUCCESS", "c", f"{COALESCED}: named again: 1, such as ['c']"),
        (
            f"{COALESCED}:seen:x",
            "RUNNING",
            "",
            f"{COALESCED}: not ended with success: 1, such as ['{COALESCED}:seen:x']",
        ),
        (f"{EACH}:seen:x", "SUCCESS", "", f"{EACH}:seen:x names 0 publishes"),
    ],
)
def test_each_trouble_is_found(
    heads: _Heads, name: str, state: str, named: str, trouble: str
) -> None:
    heads.add(name, 1, state, *named)

    assert heads.troubles() == [trouble]


def test_a_version_that_went_back_and_a_second_end_are_found(heads: _Heads) -> None:
    name = f"{EACH}:seen:a"
    heads.add(name, 2, "SUCCESS", "a")

    assert heads.troubles() == [
        f"{EACH}: a version came twice, or went back: 1, such as ['{name}']",
        f"{EACH}: ended twice: 1, such as ['{name}']",
    ]
