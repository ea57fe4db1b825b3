"""What schemathesis cannot know from the description, said to it; loaded by its `hooks` setting."""

import json
import os
import re
import uuid
from itertools import count
from typing import Any

import schemathesis

from supervisor.api.http.idempotency import HEADER
from supervisor.api.http.preconditions import STRONG, WEAK
from supervisor.core.values.idempotency import is_key

BROKER = "TIDEGATE_CONTRACT_BROKER"
TAGS = {"if-match": re.compile(STRONG), "if-none-match": re.compile(WEAK)}
_run, _keys = uuid.uuid4().hex, count(1)


@schemathesis.hook
def before_call(_context: object, case: Any, _kwargs: object) -> None:  # noqa: ANN401 -- its own
    """Send each key once: `of this action alone` is more than a schema can say."""
    headers = case.headers or {}
    if case.meta.generation.mode is schemathesis.GenerationMode.POSITIVE:
        # Where it finds nothing for their pattern, it takes "" or "0", which do not match it.
        for name, form in TAGS.items():
            if not form.fullmatch(headers.get(name, "*")):
                del headers[name]
    key = headers.get(HEADER)
    if isinstance(key, str) and is_key(key):
        headers[HEADER] = f"{_run}-{next(_keys)}"
    body = case.body
    if isinstance(body, dict) and (broker := os.environ.get(BROKER)):
        # The example's broker is on the machine of whoever reads it; this one answers.
        body = case.body = json.loads(json.dumps(body).replace("localhost:9092", broker))
    if case.operation.path.endswith("/sync") and isinstance(body, dict) and "wait" in body:
        wait = body["wait"]
        if isinstance(wait, int | float) and not isinstance(wait, bool) and wait > 0:
            case.body = body | {"wait": 0.0}
        if isinstance(wait, str) and wait.startswith("P"):
            case.body = body | {"wait": "PT0S"}
