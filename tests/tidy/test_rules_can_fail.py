"""Each rule catches the snippet that it is there for, and lets the right one pass."""

import pytest

from tests.tidy import rules
from tests.tidy.purity import impurities
from tests.tidy.rules import Rule

_LONG = "def f():\n" + "    x = 1\n" * 50
_FITS = "def f():\n    '''Doc.\n\n    More.\n    '''\n" + "    x = 1\n" * 49
_PATHS: dict[Rule, str] = {
    impurities: "supervisor/core/planning/plan.py",
    rules.package_docstrings: "tasks/__init__.py",
    rules.writes_without_a_term: "supervisor/chores/retention.py",
}

BAD: list[tuple[Rule, str]] = [
    (rules.long_functions, _LONG),
    (rules.long_files, "x = 1\n" * 401),
    (rules.many_parameters, "def f(a, b, c, d, e, g): ..."),
    (rules.many_parameters, "class A:\n    def f(self, a, b, c, d, e, g): ..."),
    (rules.mocks, "from unittest.mock import Mock"),
    (rules.mocks, "from unittest import mock"),
    (rules.mocks, "import unittest.mock as m"),
    (rules.sleeps, "import time\ntime.sleep(1)"),
    (rules.sleeps, "from time import sleep"),
    (rules.skips, "import pytest\npytest.skip('no broker')"),
    (rules.skips, "from pytest import importorskip"),
    (rules.skips, "@pytest.mark.skipif(True, reason='x')\ndef test_a(): ..."),
    (rules.skips, "@pytest.mark.xfail\ndef test_a(): ..."),
    (rules.unfinished, "def f():\n    raise NotImplementedError"),
    (rules.unfinished, "def f():\n    raise NotImplementedError('later')"),
    (rules.todos, "# TO" + "DO: later"),
    (rules.todos, "x = 1  # FIX" + "ME"),
    (rules.foreign_words, "https://py" + "pi.org/simple"),
    (rules.foreign_words, "see .." + "/shared/x.md"),
    (rules.foreign_words, "cd /wo" + "rk/main"),
    (rules.foreign_words, 'p = "/ro' + 'ot/.cache"'),
    (rules.foreign_words, "/ho" + "me/anna/src"),
    (rules.package_docstrings, "x = 1"),
    (rules.writes_without_a_term, "with self.store.writing() as tx: ..."),
    (rules.writes_without_a_term, "write = store.writing"),
    (impurities, "import time"),
    (impurities, "from os import environ"),
    (impurities, "import urllib.request"),
    (impurities, "from datetime import datetime\nx = datetime.now()"),
    (impurities, "import datetime as d\nx = d.date.today()"),
    (impurities, "field(default_factory=datetime.now)"),
    (impurities, "now = clock.now()"),
    (impurities, "open('x')"),
    (impurities, "from uuid import uuid4"),
    (impurities, "import uuid\nx = uuid.uuid4()"),
    (impurities, "def f():\n    import logging"),
]

GOOD: list[tuple[Rule, str]] = [
    (rules.long_functions, _FITS),
    (rules.long_files, "x = 1\n" * 400),
    (rules.many_parameters, "def f(a, b, c, d, e, *, g): ..."),
    (rules.many_parameters, "class A:\n    def f(self, a, b, c, d, e): ..."),
    (rules.sleeps, "import time\ntime.monotonic()"),
    (rules.todos, "# TO" + "DO(#12): later"),
    (rules.foreign_words, "GET /druid/indexer/v1/work/x and <warehouse>/work/data"),
    (rules.package_docstrings, '"""What to read first."""'),
    (rules.writes_without_a_term, "with self.store.leading(term) as tx: ..."),
    (impurities, "def rest(seen):\n    return seen.now + PERIOD"),
    (impurities, "from urllib.parse import quote\nfrom uuid import UUID"),
    (impurities, "from datetime import datetime, timedelta"),
]


def _path(rule: Rule) -> str:
    return _PATHS.get(rule, "tests/core/test_plan.py")


@pytest.mark.parametrize(("rule", "text"), BAD)
def test_a_rule_catches_what_it_is_there_for(rule: Rule, text: str) -> None:
    assert list(rule(_path(rule), text))


@pytest.mark.parametrize(("rule", "text"), GOOD)
def test_a_rule_lets_the_right_code_pass(rule: Rule, text: str) -> None:
    assert not list(rule(_path(rule), text))


def test_a_vague_file_name_is_caught() -> None:
    assert list(rules.vague_names("supervisor/core/utils.py", ""))


def test_a_module_that_is_not_pure_may_read_the_clock() -> None:
    assert not list(impurities("supervisor/adapters/clock.py", "import time"))
