"""Table of all functions, by name in small letters."""

from tasks.rows.expression.functions import (
    addresses,
    apply,
    arrays,
    bits,
    formats,
    general,
    json,
    moments,
    nested_json,
    numbers,
    patterns,
    reduction,
    sizes,
    text,
    time,
)
from tasks.rows.expression.functions.absent import ABSENT
from tasks.rows.expression.functions.given import Function

__all__ = ["ABSENT", "FUNCTIONS"]

FUNCTIONS: dict[str, Function] = {
    name: function
    for module in (
        general,
        text,
        formats,
        patterns,
        numbers,
        bits,
        arrays,
        apply,
        reduction,
        json,
        nested_json,
        addresses,
        sizes,
        time,
        moments,
    )
    for name, function in module.FUNCTIONS.items()
}
