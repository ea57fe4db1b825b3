"""Functions of addresses: IPv4 as dotted texts or longs of 32 bits, IPv6 as texts.

Source: RFC 4291, section 2.2, for IPv6 texts; a text with a zone (`fe80::1%eth0`) is no address.
"""

import re
from contextlib import suppress
from ipaddress import AddressValueError, IPv6Network, NetmaskValueError

from tasks.rows.expression.functions.given import Function, Given, table
from tasks.rows.expression.let import let, let_both
from tasks.rows.expression.value import Value, first, of_long, of_text, of_truth
from tasks.rows.sql.text import text

_BYTE = r"(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_ADDRESS = text(rf"\A{_BYTE}\.{_BYTE}\.{_BYTE}\.{_BYTE}\z")
_SUBNET = re.compile(rf"{_BYTE}\.{_BYTE}\.{_BYTE}\.{_BYTE}(?:/(3[0-2]|[12]?[0-9]))?")
_LIMIT = 2**32
_DIGITS_MAX = 32
_HEX = "0123456789abcdef"


def _address6() -> str:
    """Return a regular expression of IPv6 addresses in small letters."""
    group = "[0-9a-f]{1,4}"
    forms = [f"(?:{group}:){{7}}{group}", f"(?:{group}:){{6}}{_BYTE}(?:\\.{_BYTE}){{3}}"]
    # `::` stands for one group at least; a dotted tail for two.
    for before in range(8):
        head = f"{group}(?::{group}){{{before - 1}}}" if before else ""
        forms.append(f"{head}::")
        if after := 7 - before:
            forms.append(f"{head}::(?:{group}:){{0,{after - 1}}}{group}")
        if after > 1:
            forms.append(f"{head}::(?:{group}:){{0,{after - 2}}}{_BYTE}(?:\\.{_BYTE}){{3}}")
    return text(rf"\A(?:{'|'.join(forms)})\z")


_ADDRESS6 = _address6()


def _parse(given: Given) -> Value:
    return of_long(_number(given.values[0]))


def _number(value: Value) -> str:
    """Return BIGINT: an address as a long; null if the value is no address."""
    alternatives = []
    if value.long:
        alternatives.append(
            let(value.long, lambda n: f"CASE WHEN {n} BETWEEN 0L AND {_LIMIT - 1}L THEN {n} END")
        )
    if value.string:
        alternatives.append(let(value.string, _number_of_text))
    return first(alternatives, "BIGINT")


def _number_of_text(raw: str) -> str:
    steps = " + ".join(
        f"CAST(split_part({raw}, '.', {place + 1}) AS BIGINT) * {256 ** (3 - place)}L"
        for place in range(4)
    )
    return f"CASE WHEN {raw} RLIKE {_ADDRESS} THEN {steps} END"


def _stringify(given: Given) -> Value:
    value = given.values[0]
    alternatives = []
    if value.long:
        parts = ", ".join(
            f"CAST((shiftright(%s, {shift}) & 255L) AS STRING)" for shift in (24, 16, 8, 0)
        )
        alternatives.append(
            let(
                value.long,
                lambda n: (
                    f"CASE WHEN {n} BETWEEN 0L AND {_LIMIT - 1}L "
                    f"THEN concat_ws('.', {parts.replace('%s', n)}) END"
                ),
            )
        )
    if value.string:
        alternatives.append(
            let(value.string, lambda s: f"CASE WHEN {s} RLIKE {_ADDRESS} THEN {s} END")
        )
    return of_text(first(alternatives, "STRING"))


def _match(given: Given) -> Value:
    written = given.literal_text(1, "the subnet")
    match = _SUBNET.fullmatch(written)
    if not match:
        raise given.wrong(1, f"'{written}' is no subnet", "write one like 192.168.0.0/16")
    *parts, size = match.groups()
    bits = 32 if size is None else int(size)
    mask = _LIMIT - 2 ** (32 - bits)
    network = int.from_bytes(int(part) for part in parts) & mask
    address = _number(given.values[0])
    return of_truth(f"coalesce(({address} & {mask}L) = {network}L, false)")


def _match6(given: Given) -> Value:
    """As in Druid, the result is 0 for a value that is not a text."""
    network = _subnet6(given)
    whole, bits = divmod(network.prefixlen, 4)
    digits = f"{int(network.network_address):032x}"
    prefix = digits[:whole]
    if bits:  # some bits of the next digit count
        low = int(digits[whole], 16)
        prefix += f"[{_HEX[low : low + 2 ** (4 - bits)]}]"
    wanted = text(rf"\A{prefix}")
    address = given.values[0].string
    if not address:
        return of_long("0L")
    return of_truth(
        let(
            f"lower({address})",
            lambda a: f"coalesce({a} RLIKE {_ADDRESS6} AND {_digits(a)} RLIKE {wanted}, false)",
        )
    )


def _subnet6(given: Given) -> IPv6Network:
    written = given.literal_text(1, "the subnet")
    # Python takes zones too, and subnets without a size.
    if re.fullmatch(r"[0-9A-Fa-f:.]+/[0-9]{1,3}", written):
        with suppress(AddressValueError, NetmaskValueError):
            return IPv6Network(written, strict=False)
    fix = "write one like 2001:db8::/32"
    raise given.wrong(1, f"'{written}' is no subnet of IPv6", fix)


def _digits(address: str) -> str:
    """Return STRING: the 32 hexadecimal digits of an IPv6 address."""
    dotted = f"substring_index({address}, ':', -1)"
    parts = [f"CAST(split_part({dotted}, '.', {place}) AS INT)" for place in range(1, 5)]
    plain = (
        f"CASE WHEN contains({address}, '.') THEN concat(left({address}, length({address}) - "
        f"length({dotted})), format_string('%02x%02x:%02x%02x', {', '.join(parts)})) "
        f"ELSE {address} END"
    )

    def digits(side: str) -> str:
        groups = f"filter(split({side}, ':'), tg_g -> tg_g <> '')"
        return f"array_join(transform({groups}, tg_g -> lpad(tg_g, 4, '0')), '')"

    def joined(a: str) -> str:
        return let_both(
            digits(f"split_part({a}, '::', 1)"),
            digits(f"split_part({a}, '::', 2)"),
            lambda head, tail: (
                f"concat({head}, repeat('0', {_DIGITS_MAX} - length({head}) - length({tail})), "
                f"{tail})"
            ),
        )

    return let(plain, joined)


FUNCTIONS = table(
    Function("ipv4_parse(address)", 1, 1, _parse),
    Function("ipv4_stringify(address)", 1, 1, _stringify),
    Function("ipv4_match(address, subnet)", 2, 2, _match),
    Function("ipv6_match(address, subnet)", 2, 2, _match6),
)
