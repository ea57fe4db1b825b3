"""Names that become folders and URLs: what is not plainly harmless is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.spec.reader import read_spec
from supervisor.core.values.table_names import name_problem
from tests.supervisor.core.spec.spec_documents import changed, errors_of

# Goal: nothing is created outside the warehouse, on any file system.
HOSTILE = [
    "",
    " ",
    ".",
    "..",
    "...",
    "/",
    "//",
    "\\",
    "~",
    "~root",
    "-rf",
    "--help",
    "_hidden",
    ".hidden",
    "../../etc",
    "..\\..\\etc",
    "../../etc/passwd",
    "/etc/passwd",
    "C:\\Windows",
    "C:",
    "a/b",
    "a\\b",
    "a/../b",
    "a..b",
    "a..",
    "a.",
    "..%2f",
    "%2e%2e%2f",
    "a%00b",
    "a\0b",
    "a\0",
    "a\r",
    "a\n",
    "a\r\nSet-Cookie: x=1",
    "a\tb",
    "a b",
    " a",
    "a ",
    "a\x1b[31mb",
    "a\x7fb",
    "a\u202eb",
    "a\u200eb",
    "a\u200bb",
    "a\ufeffb",
    "a\u2028b",
    "\uff41\uff42",
    "caf\u00e9",
    "a\u0301",
    "\u0430dmin",
    "a\uff0fb",
    "\u0661\u0662",
    "a" * 129,
    "a" * 300,
    "con",
    "CON",
    "nul",
    "Nul.txt",
    "aux.tar.gz",
    "prn",
    "com1",
    "LPT9.log",
    "a;rm -rf x",
    "a|b",
    "a&b",
    "$(id)",
    "`id`",
    "a'--",
    'a"b',
    "<script>",
    "a*b",
    "a?b",
    "a:b",
    "a#b",
    "a@b",
    "{a}",
    "[a]",
]


@pytest.mark.parametrize("name", HOSTILE, ids=[ascii(name)[:30] for name in HOSTILE])
def test_a_hostile_name_is_no_table_and_no_supervisor(name: str) -> None:
    for pointer in ("/spec/dataSchema/dataSource", "/id"):
        errors = errors_of(changed(pointer, name))
        assert [error.pointer for error in errors] == [pointer]
        assert errors[0].message.isascii()
        assert errors[0].message.isprintable()
        assert "such as" in errors[0].hint


@pytest.mark.parametrize(
    "name",
    ["a", "0", "samples", "web-events", "orders_2024", "v1.2", "a" * 128, "console", "com10"],
)
def test_a_plain_name_is_accepted_as_it_is(name: str) -> None:
    spec = read_spec(changed("/spec/dataSchema/dataSource", name)).spec
    assert (spec.id, spec.data_source) == (name, name)


@given(st.text())
def test_no_name_leads_out_of_its_folder(name: str) -> None:
    if name_problem(name) is None:
        assert name.isascii()
        assert name.isprintable()
        assert not set(name) & set("/\\%: ")
        assert name.strip(".") == name
        assert ".." not in name
