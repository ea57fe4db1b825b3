"""The world of the API's tests, for what schemathesis found."""

from tests.supervisor.api.conftest import migrated, world

__all__ = ["migrated", "world"]
