"""Which names a `topicPattern` matches, and which patterns are refused."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from supervisor.core.spec.sections.topic_pattern import TopicPattern

_atoms = st.sampled_from(["a", "b", "-", r"\.", ".", "[ab]", "[^a]", "[a-c_]", r"\d", r"\w"])
_repeats = st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,2}", "{1,}", "{0,3}", "{0}"])
_patterns = st.recursive(
    st.tuples(_atoms, _repeats).map("".join),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map("".join)
        | st.tuples(inner, inner).map(lambda two: f"({two[0]}|{two[1]})")
        | st.tuples(inner, _repeats).map(lambda two: f"(?:{two[0]}){two[1]}")
    ),
    max_leaves=6,
)


@given(pattern=_patterns, name=st.text("abc-._1", min_size=1, max_size=8))
@example(pattern="(a?){3}b", name="aab")
def test_it_matches_what_pythons_engine_matches(pattern: str, name: str) -> None:
    """Goal: it means what its author knows from other tools."""
    assert TopicPattern(pattern).matches(name) == (re.fullmatch(pattern, name) is not None)


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("orders-.*", "orders-eu", True),
        ("orders-.*", "orders-", True),
        ("orders-.*", "my-orders-eu", False),
        ("orders", "orders2", False),
        ("^orders-.$", "orders-a", True),
        (r"(eu|us)\.orders\.v[0-9]+", "us.orders.v12", True),
        (r"(eu|us)\.orders\.v[0-9]+", "us-orders-v12", False),
    ],
)
def test_the_whole_name_has_to_match(pattern: str, name: str, matches: bool) -> None:
    """Source: Druid's topicPattern."""
    assert TopicPattern(pattern).matches(name) is matches


@pytest.mark.parametrize("pattern", ["(a+)+", "(a|a)*b", "a?" * 60 + "a" * 60, "(.*a){20}"])
def test_no_pattern_takes_long(pattern: str) -> None:
    """Goal: a spec cannot stop the overlord; Python's own engine takes hours for these."""
    compiled = TopicPattern(pattern)
    began = time.perf_counter()

    compiled.matches("a" * 248 + "-")

    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("", "1 to 500"),
        ("a" * 501, "1 to 500"),
        ("a(b", r"\) is missing"),
        ("a)b", r"\) closes nothing"),
        ("*a", "nothing to repeat"),
        ("a**", "repeat of a repeat"),
        ("a+?", "repeat of a repeat"),
        ("a++", "repeat of a repeat"),
        ("a{3,2}", "2 is less than 3"),
        ("a{250}", "at most 249"),
        ("a{x}", "number is missing"),
        ("(a{249}){249}", "too many"),
        ("[]", "empty"),
        ("[a", "too early"),
        ("[b-a]", "no range"),
        ("a b", "in no topic"),
        ("orders/.*", "in no topic"),
        (r"\p{L}", "not understood"),
        (r"(a)\1", "not understood"),
        ("(?i)orders", "only"),
        ("(?=a)a", "only"),
        ("(?P<x>a)", "only"),
        ("orders|^eu", "in no topic"),
    ],
)
def test_what_java_and_python_read_differently_is_refused(pattern: str, message: str) -> None:
    """Goal: the pattern of a Druid spec never means something else here."""
    with pytest.raises(PydanticCustomError, match=message):
        TopicPattern(pattern)
