"""Each scenario runs on every engine, and ends with the checks that belong to all of them."""

from collections.abc import Iterator

import pytest

from tests.supervisor.core.crashes.scenarios.engines import ENGINES, Stage


@pytest.fixture(params=sorted(ENGINES))
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """An engine with nothing in it; K7 and K8 are checked when the test is over."""
    whole = Stage(ENGINES[request.param]())
    yield whole
    whole.check_ends()
