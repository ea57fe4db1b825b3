"""What is let off a rule: one entry each, with its reason.  An entry that is not needed fails."""

from collections.abc import Mapping
from types import MappingProxyType

SKIPS: Mapping[str, str] = MappingProxyType({})
"""Start of a test's node id -> why it may be skipped, or may fail as expected."""

RULES: Mapping[tuple[str, str, str], str] = MappingProxyType({})
"""(rule, path in the repository, name of the function or '') -> why the rule would harm there."""
