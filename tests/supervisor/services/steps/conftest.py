"""An overlord whose flows call the product's verbs."""

import pytest

from tests.supervisor.api.conftest import guarded, migrated, world
from tests.supervisor.api.guarded import Guarded
from tests.supervisor.api.world import World
from tests.supervisor.services.steps.driver import Driver, driver_of

__all__ = ["driver", "guarded", "guarded_driver", "migrated", "world"]


@pytest.fixture
def driver(world: World) -> Driver:
    """Nobody is asked who calls."""
    return driver_of(world)


@pytest.fixture
def guarded_driver(guarded: Guarded) -> Driver:
    """Callers are asked who they are."""
    return driver_of(guarded.world)
