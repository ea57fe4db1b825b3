"""I1, I2, I4: committed offsets move by published ranges alone, and each record is one row."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tests.simulation.checkers.database import (
    Committed,
    Gap,
    Part,
    Publication,
    Rows,
    used_segments,
)
from tests.simulation.checkers.ledger import Chain, Ledger, Watched, chain_of


def committed_offsets_move_by_publications(
    ledger: Ledger, now: Rows, world: Watched
) -> Iterator[str]:
    """I1 and I4, from the last look to this one."""
    new = [p for g, p in now.publications.items() if g not in ledger.rows.publications]
    gaps = now.gaps[len(ledger.rows.gaps) :]
    reset = now.resets > ledger.rows.resets
    for part, row in now.committed.items():
        old = ledger.rows.committed.get(part)
        steps = sorted(_steps(part, new, now))
        if old is None:
            if not reset:  # a reset begins with all partitions anew, wherever the spec says
                yield from _begun(ledger, part, row, world=world)
            old = row._replace(next=row.first if row.epoch == 0 else row.next)
            ledger.chains.setdefault(part, []).append(
                Chain(row.epoch, row.topic_id, old.next, old.next)
            )
        yield from _moved(ledger.chains[part], old, row, steps, reset=reset, gaps=gaps, part=part)
    for part in ledger.rows.committed.keys() - now.committed.keys():
        if not reset:
            yield f"I4 {_name(part)}: its committed offset is gone without an audited reset"
    for publication in new:
        yield from _without_predecessor(publication, ledger.rows, now)


def _begun(ledger: Ledger, part: Part, row: Committed, *, world: Watched) -> Iterator[str]:
    known = {p.partition for p in ledger.rows.committed if p[:2] == part[:2]}
    if not known or row.epoch:
        return
    if part.partition < len(known):
        yield f"I1 {_name(part)}: joined later though its number is not new"
    offsets = [at for at, _, kind in _records(world, part, row.topic_id) if kind == "data"]
    if skipped := [at for at in offsets if at < row.first]:
        yield f"I1 {_name(part)}: joined later, and {len(skipped)} records before it are skipped"


def _steps(part: Part, new: list[Publication], now: Rows) -> Iterator[tuple[int, int, int]]:
    for publication in new:
        if part in publication.start:
            epoch = now.ranges[publication.generation][part].epoch
            first, end = publication.start[part], publication.end[part]
            if end > first:
                yield epoch, first, end


def _moved(
    chains: list[Chain],
    old: Committed,
    row: Committed,
    steps: list[tuple[int, int, int]],
    *,
    reset: bool,
    gaps: tuple[Gap, ...],
    part: Part,
) -> Iterator[str]:
    """Follow `old` by the published steps to `row`, and leave the chains at `row`."""
    name = _name(part)
    chain = chains[-1]
    at = chain.reached
    for _, first, end in [s for s in steps if s[0] == chain.epoch]:
        if first != at:
            yield f"I1 {name}: [{first}, {end}) was published, the offsets before end at {at}"
        at = end
    chain.reached = at
    if row.epoch == chain.epoch:
        if row.topic_id != chain.topic_id:
            yield f"I4 {name}: another topic id without a reset"
        if row.next < old.next and not reset:
            yield f"I4 {name}: the committed offset moved back from {old.next} to {row.next}"
        elif row.next != at:
            yield f"I1 {name}: committed {row.next}, but the published ranges end at {at}"
        chain.reached = row.next
        return
    if row.epoch < chain.epoch or not reset:
        yield f"I4 {name}: epoch {chain.epoch} became {row.epoch} without an audited reset"
    later = [s for s in steps if s[0] == row.epoch]
    begun = later[0][1] if later else row.next
    first = min(c.first for c in chains if c.topic_id == chain.topic_id)
    if row.topic_id == chain.topic_id and not _declared(at, max(begun, first), gaps, part):
        yield f"I1 {name}: reset from {at} to {begun} without a declared gap"
    chains.append(Chain(row.epoch, row.topic_id, begun, row.next))


def _declared(old: int, new: int, gaps: tuple[Gap, ...], part: Part) -> bool:
    if old == new:
        return True
    kinds = {"skipped", "lost"} if new > old else {"repeated"}
    mine = sorted((g.first, g.end) for g in gaps if g.part == part and g.kind.lower() in kinds)
    at, until = min(old, new), max(old, new)
    for first, end in mine:
        if first <= at:
            at = max(at, end)
    return at >= until


def _without_predecessor(publication: Publication, before: Rows, now: Rows) -> Iterator[str]:
    mine = now.generations[publication.generation]
    for other in now.generations.values():
        earlier = other.supervisor == mine.supervisor and other.ordinal < mine.ordinal
        shared = now.ranges.get(other.id, {}).keys() & publication.start.keys()
        if earlier and other.ended_at is None and shared and other.id in before.generations:
            yield f"I1 {mine.id} is published before its predecessor {other.id}"


def published_ranges_tile(ledger: Ledger, now: Rows) -> Iterator[str]:
    """I1 over the whole run: per chain the published ranges leave no hole and do not overlap."""
    by_chain: dict[int, list[tuple[int, int]]] = {}
    for generation, publication in now.publications.items():
        for part, first in publication.start.items():
            end = publication.end[part]
            chain = chain_of(ledger, now, generation, part)
            if chain is None:
                yield f"I1 {_name(part)}: {generation} is published in an epoch that never was"
            elif end > first:
                by_chain.setdefault(id(chain), []).append((first, end))
    for part, chains in ledger.chains.items():
        for chain in chains:
            at = chain.first
            for first, end in sorted(by_chain.get(id(chain), [])):
                if first != at:
                    what = "overlaps" if first < at else "leaves a hole after"
                    yield f"I1 {_name(part)}: the range [{first}, {end}) {what} {at}"
                at = max(at, end)
            if at != chain.reached:
                yield f"I1 {_name(part)}: ranges end at {at}, committed is {chain.reached}"


def rows_are_the_records(
    ledger: Ledger, now: Rows, world: Watched, generations: Mapping[str, Publication]
) -> Iterator[str]:
    """I2: the rows of these publications are, as a multiset, the records of their ranges.

    Those that nobody can decode are the rows of the errors table.
    """
    for publication in generations.values():
        yield from _rows(ledger, now, world, publication, kind="data")
        yield from _rows(ledger, now, world, publication, kind="broken")
        yield from _rejects(ledger, now, world, publication)


def _rows(
    ledger: Ledger, now: Rows, world: Watched, publication: Publication, *, kind: str
) -> Iterator[str]:
    generation = publication.generation
    rows_found: Counter[tuple[Part, int, int]] = Counter()
    for segment in used_segments(world.store_connection, generation, errors=kind == "broken"):
        rows = world.warehouse.rows(segment.path)
        if rows is None:
            yield f"I2 lost-write: the published file {segment.path} is not on disk"
            continue
        if len(rows) != segment.rows:
            yield f"I2 {segment.path} holds {len(rows)} rows, its segment says {segment.rows}"
        rows_found.update((Part(publication.supervisor, *tp), at, key or 0) for tp, at, key in rows)
    wanted: Counter[tuple[Part, int, int]] = Counter()
    for part, first in publication.start.items():
        chain = chain_of(ledger, now, generation, part)
        if chain is None:
            yield f"I1 {_name(part)}: {generation} is published in an epoch that never was"
            continue
        wanted.update(
            (part, at, key or 0)
            for at, key, of_kind in _records(world, part, chain.topic_id)
            if of_kind == kind and first <= at < publication.end[part]
        )
    yield from _compared(generation, wanted, rows_found)


def _rejects(ledger: Ledger, now: Rows, world: Watched, publication: Publication) -> Iterator[str]:
    """P25: what became no row is counted as refused, record by record."""
    number = 0
    for part, first in publication.start.items():
        chain = chain_of(ledger, now, publication.generation, part)
        if chain is not None:
            number += sum(
                kind == "broken" and first <= at < publication.end[part]
                for at, _, kind in _records(world, part, chain.topic_id)
            )
    if number != publication.rejected:
        rejects = f"{publication.rejected} rejects"
        yield f"I2 {publication.generation}: {rejects}, its range holds {number} broken records"


def _compared(
    generation: str,
    wanted: Counter[tuple[Part, int, int]],
    found: Counter[tuple[Part, int, int]],
) -> Iterator[str]:
    for what, rest in (("lost-write", wanted - found), ("duplicate or G1a", found - wanted)):
        if rest:
            part, at, key = min(rest)
            some = f"{_name(part)} offset {at} ({key})"
            yield f"I2 {what}: {rest.total()} records of {generation}, the first is {some}"


def _records(world: Watched, part: Part, topic_id: str) -> Sequence[tuple[int, int | None, str]]:
    return world.kafka.records(part.topic, part.partition, topic_id)


def _name(part: Part) -> str:
    return f"{part.supervisor} {part.topic}:{part.partition}"
