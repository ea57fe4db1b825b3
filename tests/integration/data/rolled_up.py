"""A rolled-up table: records, what a spec says of them, and the totals of records and of rows."""

import struct
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
from datasketches import compact_theta_sketch
from pydantic import JsonValue

from tests.integration.data.formats import Format, click, is_bad, json_breaks, json_text

NAME = "rolled-up"
ROLLED_UP = Format(NAME, {"type": "json"}, json_text, json_breaks()[:-1])
"""Values that only metrics take are not judged: the last of these breaks would be a row."""
SCHEMA: dict[str, JsonValue] = {
    "dimensionsSpec": {"dimensions": ["shop"]},
    "transformSpec": {
        "transforms": [{"type": "expression", "name": "shop", "expression": "amount % 10"}]
    },
    "metricsSpec": [
        {"type": "count", "name": "clicks"},
        {"type": "longSum", "name": "amounts", "fieldName": "amount"},
        {"type": "doubleSum", "name": "prices", "fieldName": "price"},
        {"type": "HLLSketchBuild", "name": "users", "fieldName": "user"},
        {"type": "thetaSketch", "name": "visitors", "fieldName": "user"},
    ],
    "granularitySpec": {"segmentGranularity": "HOUR", "queryGranularity": "HOUR", "rollup": True},
}
Key = tuple[datetime, str]
"""Hour and shop."""


@dataclass
class Totals:
    """Of one hour and shop; prices are quarters, so that sums of doubles are exact."""

    clicks: int = 0
    amounts: int = 0
    prices: float = 0.0
    records: int = 0
    users: set[object] = field(default_factory=set)
    visitors: set[object] = field(default_factory=set)

    def numbers(self) -> tuple[int, int, float, int, int, int]:
        """What can be compared: of users how many there are."""
        sets = len(self.users), len(self.visitors)
        return self.clicks, self.amounts, self.prices, self.records, *sets


def totals_of(records: int) -> dict[Key, Totals]:
    """Add up the records that can be read."""
    totals: dict[Key, Totals] = defaultdict(Totals)
    for number in range(records):
        if is_bad(number):
            continue
        held = click(number)
        hour = datetime.fromisoformat(held.time).replace(minute=0, second=0)
        total = totals[hour, str(held.amount % 10)]
        total.clicks += 1
        total.amounts += held.amount
        total.prices += held.price
        total.records += 1
        total.users.add(held.user)
        total.visitors.add(held.user)
    return totals


def totals_in(files: Iterable[Path]) -> tuple[dict[Key, Totals], int]:
    """Add up the rows of a table, and say how many there are."""
    totals: dict[Key, Totals] = defaultdict(Totals)
    rows = 0
    for file in files:
        for row in pq.read_table(file, partitioning=None).to_pylist():
            total = totals[row["__time"].astimezone(UTC), row["shop"]]
            total.clicks += row["clicks"]
            total.amounts += row["amounts"]
            total.prices += row["prices"]
            total.records += row["__count"]
            total.users |= coupons(row["users"])
            total.visitors |= set(compact_theta_sketch.deserialize(row["visitors"]))
            rows += 1
    return totals, rows


_LIST, _SET = 0, 1
_BEGINS = {_LIST: 8, _SET: 12}


def coupons(sketch: bytes) -> set[int]:
    """Return what a sketch of few values holds: a number of 32 bits for each of them.

    Source: Apache DataSketches, HLL's PreambleUtil: the lowest two bits of byte 7 say that it is a
    list or a set, whose numbers follow its preamble; 0 stands for a free place.
    """
    held = sketch[_BEGINS[sketch[7] & 3] :]
    return set(struct.unpack(f"<{len(held) // 4}i", held)) - {0}
