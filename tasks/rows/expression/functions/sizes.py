"""Functions that write numbers for people.  Source: Druid's `HumanReadableBytes`."""

from collections.abc import Callable

from tasks.rows.expression.functions.given import Function, Given, table
from tasks.rows.expression.let import let
from tasks.rows.expression.value import Value, as_long, of_text
from tasks.rows.sql.text import text

_PRECISION_MAX = 3
_THOUSAND = 1000
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = ("K", "M", "G", "T", "P", "E")


def _format(base: int, units: tuple[str, ...], suffix: str) -> Callable[[Given], Value]:
    def make(given: Given) -> Value:
        """Doubles are truncated, texts give null."""
        precision = given.literal_whole(1, "the precision") if given.has(1) else 2
        if not 0 <= precision <= _PRECISION_MAX:
            raise given.wrong(1, f"the precision {precision} is not in 0 to 3", "use 0 to 3")
        value = given.values[0]
        number = as_long(Value(value.long, value.double))
        return of_text(let(number, lambda n: _written(n, precision, base, (suffix, *units))))

    return make


def _written(number: str, precision: int, base: int, units: tuple[str, ...]) -> str:
    suffix, *larger = units
    shape = text(f"%.{precision}f ")
    branches = []
    for place in range(len(larger), 0, -1):
        if base == _THOUSAND:
            # Whole division drops digits that no precision shows; -1000 to 1000 times 1000 remain.
            scaled = f"({number} div {base ** (place - 1)}L) / 1000D"
        else:
            scaled = f"CAST({number} AS DOUBLE) / {float(base**place)!r}D"
        # The smallest long has no positive counterpart, so it is compared directly.
        test = f"({number} >= {base**place}L OR {number} <= - {base**place}L)"
        unit = text(larger[place - 1] + suffix)
        branches.append(f"WHEN {test} THEN concat(format_string({shape}, {scaled}), {unit})")
    ending = text(f" {suffix}" if suffix else "")
    few = f"WHEN {number} IS NOT NULL THEN concat(CAST({number} AS STRING), {ending})"
    return f"CASE {' '.join(branches)} {few} END"


FUNCTIONS = table(
    Function(
        "human_readable_binary_byte_format(value[, precision])", 1, 2, _format(1024, _BINARY, "B")
    ),
    Function(
        "human_readable_decimal_byte_format(value[, precision])", 1, 2, _format(1000, _DECIMAL, "B")
    ),
    Function(
        "human_readable_decimal_format(value[, precision])", 1, 2, _format(1000, _DECIMAL, "")
    ),
)
