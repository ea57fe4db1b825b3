"""Expressions in CEL, the Common Expression Language of Kubernetes and Envoy.

Source: https://github.com/google/cel-spec, by the package `common-expression-language`.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import JsonValue

from supervisor.adapters.expression_cost import WORK_MAX, macros_in, work_of
from supervisor.core.executions.expressions import ExpressionFailed

if TYPE_CHECKING:
    from cel import Program

LENGTH_MAX = 1_000
"""Characters of one expression."""
MACROS_MAX = 2
"""Of `all`, `exists`, `exists_one`, `filter` and `map` in one expression: more may never end."""
_KEPT = 1_000
"""Compiled expressions that are remembered."""


class CelExpressions:
    """The language of flows."""

    def check(self, text: str) -> None:
        """Refuse an expression that does not parse, or may take too long.

        Raises:
            ExpressionFailed: the message says why.
        """
        _compiled(text)

    def value(self, text: str, variables: Mapping[str, JsonValue]) -> JsonValue:
        """Return the value of an expression, as JSON: a time in ISO 8601, a duration in seconds.

        Raises:
            ExpressionFailed: it does not parse, has no value for these variables, or may take too
                long with them.
        """
        program = _compiled(text)
        if work_of(text, variables) > WORK_MAX:
            raise ExpressionFailed(
                f"`{text}` may take too long with values of this size: use smaller ones, or two "
                "steps"
            )
        try:
            return _json(program.execute(dict(variables)))
        except (ValueError, TypeError, RuntimeError, LookupError, ArithmeticError) as error:
            raise ExpressionFailed(f"`{text}` has no value: {error}") from None


@lru_cache(_KEPT)
def _compiled(text: str) -> "Program":
    import cel  # it loads its own command line, too: only where there are flows

    if len(text) > LENGTH_MAX:
        raise ExpressionFailed(
            f"an expression has at most {LENGTH_MAX} characters; this one has {len(text)}"
        )
    if macros_in(text) > MACROS_MAX:
        raise ExpressionFailed(f"`{text}` goes through more than {MACROS_MAX} lists: use two steps")
    try:
        return cel.compile(text)
    except (ValueError, RuntimeError) as error:
        raise ExpressionFailed(f"`{text}` does not parse: {error}") from None


def _json(value: object) -> JsonValue:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytes():
            return value.decode(errors="replace")
        case list() | tuple():
            return [_json(item) for item in value]
        case dict():
            return {str(name): _json(item) for name, item in value.items()}
        case _:
            raise ExpressionFailed(f"a value of the type {type(value).__name__} cannot be kept")
