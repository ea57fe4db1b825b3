"""What many compacted files have of one publication, put together in any order."""

from hypothesis import given
from hypothesis import strategies as st

from supervisor.verify.pieces import PartitionRows, Pieces
from supervisor.verify.runs import Runs
from tasks.contract.offsets import TopicPartition

P0, P1 = TopicPartition("clicks", 0), TopicPartition("clicks", 1)

_files = st.lists(st.lists(st.integers(0, 20), max_size=10), max_size=12)


@given(files=_files)
def test_pieces_of_files_are_together_what_their_rows_are(files: list[list[int]]) -> None:
    pieces = Pieces()
    for offsets in files:
        once = set(offsets)
        twice = {each for each in once if offsets.count(each) > 1}
        pieces.add(P0, PartitionRows(_runs(once), _runs(twice), len(offsets) - len(once)))

    part_rows = pieces.part(P0)

    rows = [offset for offsets in files for offset in offsets]
    assert part_rows.rows == _runs(set(rows))
    assert part_rows.repeated == _runs({each for each in rows if rows.count(each) > 1})
    assert part_rows.surplus == len(rows) - len(set(rows))
    assert pieces.part(P1) == PartitionRows()


def test_the_word_of_files_without_offsets_is_added_up() -> None:
    pieces = Pieces()
    pieces.count(P0, 3, (0, 10))
    pieces.count(P0, 4, (5, 20))

    assert (pieces.counted[P0], pieces.bounds[P0]) == (7, [(0, 10), (5, 20)])
    assert pieces.partitions() == {P0}


def _runs(offsets: set[int]) -> Runs:
    return Runs((offset, offset + 1) for offset in sorted(offsets))
