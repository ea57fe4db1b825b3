"""Random filters, as users post them."""

from hypothesis import strategies as st
from pydantic import JsonValue

Document = dict[str, JsonValue]

_FILTERS: list[Document] = [
    {"type": "selector", "dimension": "g", "value": "a"},
    {"type": "selector", "dimension": "g", "value": None},
    {"type": "in", "dimension": "g", "values": ["a", "b"]},
    {"type": "null", "column": "g"},
    {"type": "like", "dimension": "g", "pattern": "a%"},
    {"type": "equals", "column": "g", "matchValueType": "STRING", "matchValue": "b"},
    {"type": "bound", "dimension": "n", "lower": "1", "ordering": "numeric"},
    {"type": "range", "column": "n", "matchValueType": "DOUBLE", "upper": 1.5, "upperOpen": True},
    {"type": "expression", "expression": "n > 1"},
    {"type": "selector", "dimension": "n", "value": "1.0"},
    {"type": "in", "dimension": "n", "values": ["1", "1.5", "7", "+3"]},
    {"type": "selector", "dimension": "b", "value": "true"},
    {"type": "in", "dimension": "b", "values": ["false", "1.0", "x", ""]},
]


def filters() -> st.SearchStrategy[Document]:
    """Filters of `g`, `n` and `b` that the model can decide."""
    plain = st.sampled_from(_FILTERS)
    inverted = plain.map(lambda inner: Document(type="not", field=inner))
    several = st.builds(
        lambda kind, inner: Document(type=kind, fields=list(inner)),
        st.sampled_from(["and", "or"]),
        st.lists(plain | inverted, min_size=2, max_size=3),
    )
    return plain | inverted | several
