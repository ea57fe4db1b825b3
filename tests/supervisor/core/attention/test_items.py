"""Items of attention: the order, the limit, and totals that count what the limit leaves out."""

from collections import Counter
from datetime import timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.attention.items import (
    AttentionItem,
    AttentionKind,
    Severity,
    Subject,
    SubjectKind,
    worst_first,
)
from tests.supervisor.core.snapshots import NOON

_ITEMS = st.lists(
    st.builds(
        AttentionItem,
        st.sampled_from(Severity),
        st.sampled_from(AttentionKind),
        st.builds(Subject, st.sampled_from(SubjectKind), st.sampled_from("abc")),
        st.sampled_from(["x", "y"]),
        st.none() | st.integers(0, 5).map(lambda hours: NOON - timedelta(hours=hours)),
    ),
    max_size=12,
)


@given(_ITEMS, st.integers(0, 15))
def test_the_worst_and_oldest_come_first_and_the_totals_count_all(
    items: list[AttentionItem], limit: int
) -> None:
    found = worst_first(items, limit)

    assert found.totals == {each: Counter(i.severity for i in items)[each] for each in Severity}
    assert len(found.items) == min(limit, len(items))
    assert found.left_out == len(items) - len(found.items)
    ranks = [list(Severity).index(item.severity) for item in found.items]
    assert ranks == sorted(ranks)
    for before, after in pairwise(found.items):
        if before.severity is after.severity and after.since is not None:
            assert before.since is not None
            assert before.since <= after.since
    left = Counter(items)
    left.subtract(found.items)
    assert min(left.values(), default=0) >= 0, "nothing is made up"


@given(_ITEMS.flatmap(lambda items: st.tuples(st.just(items), st.permutations(items))))
def test_the_order_does_not_go_by_the_order_of_the_rules(
    both: tuple[list[AttentionItem], list[AttentionItem]],
) -> None:
    """Goal: the same items give the same bytes, and so the same entity tag."""
    items, shuffled = both

    assert worst_first(shuffled, 5) == worst_first(items, 5)
