"""`tidegate flow init`: each sample can be applied, and the docs show it as it is."""

from pathlib import Path

import pytest
import yaml

from supervisor.cli.flow.init import samples
from tests.supervisor.cli.conftest import Tidegate
from tests.tidy.sources import ROOT

TRIED = {
    "nightly": [
        "--outcome",
        'pack={"files": 3}',
        "--outcome",
        'prove={"lost": 0, "duplicated": 0}',
    ],
    "backfill": ["-i", 'days=["2026-11-01", "2026-11-02"]'],
    "migration": ["-i", 'specs=[{"type": "kafka"}]', "--outcome", 'store={"supervisor": "a"}'],
    "alert": ["-i", "rows=2", "-i", "at=2026-11-25T04:00:00Z"],
}
"""Sample -> what a simulation of it is given."""
PAGES = {
    "nightly": "compact-and-prove-each-night",
    "backfill": "backfill-many-days",
    "migration": "change-many-supervisors",
    "alert": "start-a-flow-at-each-publish",
}


def test_every_sample_is_listed_with_what_it_does(tidegate: Tidegate) -> None:
    ended = tidegate("flow", "init")

    assert set(samples()) == set(TRIED) == set(PAGES)
    listed = {line.split()[0]: line for line in ended.out.splitlines()[1:]}
    assert set(listed) == set(TRIED)
    assert "join the small files" in listed["nightly"]


@pytest.mark.parametrize("name", TRIED)
def test_a_sample_is_valid_and_runs_to_its_end(
    tidegate: Tidegate, tmp_path: Path, name: str
) -> None:
    printed = tidegate("flow", "init", name)
    assert printed.code == 0, printed.err
    file = tmp_path / "flow.yaml"
    file.write_text(printed.out)

    assert tidegate("flow", "validate", str(file)).code == 0
    tried = tidegate("flow", "simulate", str(file), *TRIED[name])
    assert tried.code == 0, tried.out


@pytest.mark.parametrize("name", PAGES)
def test_its_page_shows_a_sample_as_it_is(name: str) -> None:
    page = (ROOT / f"docs/how-to/{PAGES[name]}.md").read_text()
    shown = [part.split("```")[0] for part in page.split("```yaml\n")[1:]]

    documents = [yaml.safe_load(_flush(text)) for text in shown]
    assert yaml.safe_load(samples()[name]) in documents


def _flush(text: str) -> str:
    """Return the lines of a code block inside a list without the indent of the list."""
    lines = text.splitlines()
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[indent:] for line in lines)


def test_a_name_that_is_none_gets_the_nearest_one(tidegate: Tidegate) -> None:
    ended = tidegate("flow", "init", "nightley")

    assert ended.code == 1
    assert "did you mean nightly?" in ended.err
