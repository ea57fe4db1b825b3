"""P25: a publication's rejects file is on disk, and holds the offsets that are no rows, each once.

What the table holds for certain is judged as well: each published file stays without power.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping

from tasks.contract.offsets import TopicPartition
from tests.simulation.checkers.database import Publication, Rows, used_segments
from tests.simulation.checkers.ledger import Ledger, Watched, chain_of

_REJECTS = "SELECT rejects FROM publications WHERE generation_id = ?"


def rejects_are_on_disk(
    ledger: Ledger, now: Rows, world: Watched, publications: Mapping[str, Publication]
) -> Iterator[str]:
    """Compare the files of these publications with the records of their ranges."""
    db = world.store_connection
    for generation, publication in publications.items():
        stored = db.execute(_REJECTS, (generation,)).fetchone()[0]
        named = None if stored is None else json.loads(stored)
        path = None if not named else str(named["path"])
        wanted = _broken(ledger, now, world, publication)
        rows = [] if path is None else world.warehouse.rows(path)
        if rows is None:
            yield f"P25 {generation}: its rejects file {path} is not on disk"
        elif (found := Counter((tp, at) for tp, at, _ in rows)) != wanted:
            odd = (wanted - found) + (found - wanted)
            partition, at = min(odd)
            where = f"the first is offset {at} of {partition}"
            yield f"P25 {generation}: {odd.total()} offsets of its rejects are wrong, {where}"
        used = [s for raw in (False, True) for s in used_segments(db, generation, errors=raw)]
        for one in [path, *(segment.path for segment in used)]:
            if one is not None and not world.warehouse.durable(one):
                yield f"P20 {generation}: the published file {one} is not on disk for good"


def _broken(
    ledger: Ledger, now: Rows, world: Watched, publication: Publication
) -> Counter[tuple[TopicPartition, int]]:
    broken: Counter[tuple[TopicPartition, int]] = Counter()
    for part, first in publication.start.items():
        chain = chain_of(ledger, now, publication.generation, part)
        if chain is not None:
            records = world.kafka.records(part.topic, part.partition, chain.topic_id)
            name = TopicPartition(part.topic, part.partition)
            end = publication.end[part]
            broken.update((name, at) for at, _, k in records if k == "broken" and first <= at < end)
    return broken
