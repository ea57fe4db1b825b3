"""Flow: what is under way stays near the bound, the fullest pause, and all go on at half."""

from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.reports.flow import FlowBounds, InFlight, to_pause

BOUNDS = FlowBounds(records=10, size_bytes=1_000)
LOADS = st.dictionaries(
    st.integers(0, 5),
    st.builds(InFlight, st.integers(0, 12), st.integers(0, 1_200)),
    max_size=6,
)


@given(LOADS, st.frozensets(st.integers(0, 7)))
def test_at_the_bound_little_of_what_goes_on_is_under_way(
    under_way: dict[int, InFlight], paused: frozenset[int]
) -> None:
    full = sum(under_way.values(), InFlight()).share_of(BOUNDS)

    wanted = to_pause(under_way, paused, BOUNDS)

    assert wanted <= under_way.keys()
    going = sum((under_way[p] for p in under_way.keys() - wanted), InFlight())
    if full < 0.5:
        assert not wanted
    elif full < 1:
        assert wanted == paused & under_way.keys()
    else:
        assert going.share_of(BOUNDS) < 0.5
        assert wanted >= paused & under_way.keys()


def test_the_fullest_partition_pauses_and_the_others_are_read_on() -> None:
    under_way = {"a": InFlight(1, 10), "b": InFlight(8, 20), "c": InFlight(1, 10)}

    assert to_pause(under_way, frozenset(), BOUNDS) == {"b"}


def test_few_large_records_fill_it_as_well_as_many_small_ones() -> None:
    assert to_pause({"a": InFlight(1, 1_000)}, frozenset(), BOUNDS) == {"a"}
    assert to_pause({"a": InFlight(10, 10)}, frozenset(), BOUNDS) == {"a"}
