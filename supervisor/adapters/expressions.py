"""Expressions in CEL, the Common Expression Language of Kubernetes and Envoy.

Source: https://github.com/google/cel-spec, by the package `common-expression-language`.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import JsonValue

from supervisor.adapters.cel.checking import checked
from supervisor.adapters.cel.kinds import worded
from supervisor.adapters.expression_cost import WORK_MAX, macros_in, work_of
from supervisor.core.executions.expressions import ANY, ExpressionFailed, Kinds, Known, ValueKind

if TYPE_CHECKING:
    from cel import Program

LENGTH_MAX = 1_000
"""Characters of one expression."""
MACROS_MAX = 2
"""Of `all`, `exists`, `exists_one`, `filter` and `map` in one expression: more may never end."""
_FLAG: Kinds = frozenset({ValueKind.BOOL})
_GIVE = "name a value of that kind"
_KEPT = 1_000
"""Compiled expressions that are remembered."""


class CelExpressions:
    """The language of flows."""

    def check(self, text: str, variables: Known, wanted: Kinds = ANY) -> None:
        """Refuse an expression that does not parse, may take too long, or cannot have a value.

        Raises:
            ExpressionFailed: the message says why, its hint what to do.
        """
        program = _compiled(text)
        try:
            kinds = checked(text, variables)
        except ExpressionFailed as error:
            raise ExpressionFailed(f"`{text}`: {error}", error.hint) from None
        if not kinds & wanted:
            message = f"`{text}` gives {worded(kinds)}, and {worded(wanted)} is needed"
            raise ExpressionFailed(message, "compare it: x > 0" if wanted == _FLAG else _GIVE)
        if not program.variables():  # it gives the same each time: now, too
            try:
                self.value(text, {})
            except ExpressionFailed as error:
                raise ExpressionFailed(
                    str(error), "its values are written there: mend them"
                ) from None

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
            f"an expression has at most {LENGTH_MAX} characters; this one has {len(text)}",
            "work a part of it out in a `set` step before",
        )
    if macros_in(text) > MACROS_MAX:
        raise ExpressionFailed(
            f"`{text}` goes through more than {MACROS_MAX} lists", "use two steps"
        )
    try:
        return cel.compile(text)
    except (ValueError, RuntimeError) as error:
        hint = "write it without ${ }" if "${" in text else "write CEL, such as inputs.rows > 0"
        raise ExpressionFailed(f"`{text}` does not parse: {error}", hint) from None


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
