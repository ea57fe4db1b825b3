"""Functions of IPv4 addresses: dotted texts, and longs of 32 bits."""

import re

from tasks.expression.functions.given import Function, Given, table
from tasks.expression.let import let
from tasks.expression.value import Value, first, of_long, of_text, of_truth
from tasks.sql import text

_BYTE = r"(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_ADDRESS = text(rf"\A{_BYTE}\.{_BYTE}\.{_BYTE}\.{_BYTE}\z")
_SUBNET = re.compile(rf"{_BYTE}\.{_BYTE}\.{_BYTE}\.{_BYTE}(?:/(3[0-2]|[12]?[0-9]))?")
_LIMIT = 2**32


def _parse(given: Given) -> Value:
    return of_long(_number(given.values[0]))


def _number(value: Value) -> str:
    """Return BIGINT: an address as a long; null if it is none."""
    found = []
    if value.long:
        found.append(
            let(value.long, lambda n: f"CASE WHEN {n} BETWEEN 0L AND {_LIMIT - 1}L THEN {n} END")
        )
    if value.string:
        found.append(let(value.string, _number_of_text))
    return first(found, "BIGINT")


def _number_of_text(raw: str) -> str:
    steps = " + ".join(
        f"CAST(split_part({raw}, '.', {place + 1}) AS BIGINT) * {256 ** (3 - place)}L"
        for place in range(4)
    )
    return f"CASE WHEN {raw} RLIKE {_ADDRESS} THEN {steps} END"


def _stringify(given: Given) -> Value:
    value = given.values[0]
    found = []
    if value.long:
        parts = ", ".join(
            f"CAST((shiftright(%s, {shift}) & 255L) AS STRING)" for shift in (24, 16, 8, 0)
        )
        found.append(
            let(
                value.long,
                lambda n: (
                    f"CASE WHEN {n} BETWEEN 0L AND {_LIMIT - 1}L "
                    f"THEN concat_ws('.', {parts.replace('%s', n)}) END"
                ),
            )
        )
    if value.string:
        found.append(let(value.string, lambda s: f"CASE WHEN {s} RLIKE {_ADDRESS} THEN {s} END"))
    return of_text(first(found, "STRING"))


def _match(given: Given) -> Value:
    written = given.literal_text(1, "the subnet")
    found = _SUBNET.fullmatch(written)
    if not found:
        raise given.wrong(1, f"'{written}' is no subnet", "write one like 192.168.0.0/16")
    *parts, size = found.groups()
    bits = 32 if size is None else int(size)
    mask = _LIMIT - 2 ** (32 - bits)
    network = int.from_bytes(int(part) for part in parts) & mask
    address = _number(given.values[0])
    return of_truth(f"coalesce(({address} & {mask}L) = {network}L, false)")


FUNCTIONS = table(
    Function("ipv4_parse(address)", 1, 1, _parse),
    Function("ipv4_stringify(address)", 1, 1, _stringify),
    Function("ipv4_match(address, subnet)", 2, 2, _match),
)
