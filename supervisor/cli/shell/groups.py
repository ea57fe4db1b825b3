"""Help texts of command groups, with the commands under headings."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import typer
from typer.core import TyperGroup

_ALL, _MORE = "Commands", "More"
_SENTENCE_MAX = 400
"""Longer than any first sentence, so that help wraps a sentence instead of cutting it."""


class HelpSections(TyperGroup):
    """A group whose help has headings and whole sentences; other commands are under `More`."""

    sections: ClassVar[Mapping[str, Sequence[str]]] = {}

    def format_commands(  # type: ignore[override]  # its own copy of click has no public name
        self,
        ctx: typer.Context,  # noqa: ARG002 -- of its signature
        formatter: object,
    ) -> None:
        """Write the commands under their headings."""
        named = {name for names in self.sections.values() for name in names}
        rest = [name for name in self.commands if name not in named]
        last = _MORE if self.sections else _ALL
        for heading, names in (*self.sections.items(), (last, rest)):
            found = [(name, self.commands[name]) for name in names if name in self.commands]
            shown = [(name, each) for name, each in found if not each.hidden]
            rows = [(name, each.get_short_help_str(_SENTENCE_MAX)) for name, each in shown]
            if rows:
                with formatter.section(heading):  # type: ignore[attr-defined]  # same
                    formatter.write_dl(rows)  # type: ignore[attr-defined]  # same


class TopLevel(HelpSections):
    """The group `tidegate`."""

    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "Supervise": ("overview", "supervisor", "task", "logs", "quarantine"),
        "Flows": ("flow", "execution"),
        "Tables": ("table", "query", "verify", "segment", "compaction", "export", "snippet"),
        "Operate": ("doctor", "queue", "reports", "access", "whoami", "audit", "metadata"),
        "Run": ("dev", "overlord", "worker", "executor", "persister"),
        "This command": ("config", "completion"),
    }


class OfSupervisors(HelpSections):
    """The group `tidegate supervisor`."""

    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "Specs": ("init", "sample", "diff", "apply", "get", "history", "rollback", "schema"),
        "How they stand": (
            "list",
            "top",
            "status",
            "partitions",
            "health",
            "explain",
            "coverage",
            "watch",
        ),
        "What happened": ("events", "reports", "ranges", "plans", "lag", "bundle"),
        "Control": ("suspend", "resume", "handoff", "reset", "terminate", "forget"),
    }
