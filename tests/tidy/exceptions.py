"""What is let off a rule: one entry each, with its reason.  An entry that is not needed fails."""

from collections.abc import Mapping
from types import MappingProxyType

SKIPS: Mapping[str, str] = MappingProxyType({})
"""Start of a test's node id -> why it may be skipped, or may fail as expected."""

RULES: Mapping[tuple[str, str, str], str] = MappingProxyType(
    {
        ("file-lines", "supervisor/core/values/errors.py", ""): (
            "one tree: every error that the API may answer is looked up in one place"
        ),
    }
)
"""(rule, path in the repository, name of the function or '') -> why the rule would harm there."""
