"""The description of the API: `python -m scripts.openapi` writes docs/reference/openapi.json."""

import json
import sys

from supervisor.api.server import build_routes


def page() -> str:
    """Return docs/reference/openapi.json."""
    return json.dumps(build_routes().openapi(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
