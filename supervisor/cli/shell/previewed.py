"""A reset that does what its preview has shown: preview, question, act; again if outdated."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from supervisor.cli.shell.client import ApiReply, Client
from supervisor.cli.shell.dry_runs import OUTDATED, note_outdated
from supervisor.cli.shell.output import print_notice
from supervisor.cli.shell.problems import ProblemAnswer
from supervisor.core.planning.offset_moves import LogEnd


@dataclass(frozen=True)
class ResetQuery:
    """The options of a reset."""

    begin: LogEnd | None
    expect: str | None
    """The digest of a preview that was read before."""
    dry_run: bool
    yes: bool

    def post(
        self,
        client: Client,
        path: str,
        body: bytes,
        show: Callable[[ApiReply], str],
        more: Mapping[str, str] | None = None,
    ) -> ApiReply:
        """Return the answer of the dry run, or of the act.

        `show` prints a preview, asks, and returns the digest; empty: the overlord of an earlier
        release gives none.
        """
        query = dict(more or {}) | ({} if self.begin is None else {"to": str(self.begin)})
        if self.dry_run:
            return client.post(path, body, query | {"dryRun": "true"})
        if self.expect is not None:
            return self._as_expected(client, path, body, query | {"expect": self.expect})
        if self.yes:
            return client.post(path, body, query)
        while True:
            digest = show(client.post(path, body, query | {"dryRun": "true"}))
            expect = {"expect": digest} if digest else {}
            try:
                return client.post(path, body, query | expect)
            except ProblemAnswer as problem:
                if problem.kind != OUTDATED:
                    raise
                print_notice("What it would do has changed meanwhile: nothing is done yet.")

    @staticmethod
    def _as_expected(client: Client, path: str, body: bytes, query: dict[str, str]) -> ApiReply:
        try:
            return client.post(path, body, query)
        except ProblemAnswer as problem:
            note_outdated(problem)
            raise
