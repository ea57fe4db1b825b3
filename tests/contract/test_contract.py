"""A slice of the contract run: every route, as its description says, with one seed.

Slow: a running overlord answers requests drawn for every route.
"""

from pathlib import Path

import pytest

from supervisor.dev.broker import Broker
from tests.contract.ask import Wish, ask, routes
from tests.contract.site import bare

SEED = 1


@pytest.mark.kafka
@pytest.mark.long
def test_every_route_answers_as_its_description_says(broker: Broker, tmp_path: Path) -> None:
    """Goal: no server error, and no answer that the description does not tell."""
    with bare(tmp_path / "site", broker.bootstrap) as site:
        report = ask(site, tmp_path / "asked", Wish("coverage", SEED, mode="positive"))

    assert not report.failures, report.output[-20_000:]
    assert report.operations == len(routes())
    assert report.cases > 500
