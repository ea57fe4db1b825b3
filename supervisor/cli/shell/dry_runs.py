"""Dry runs of verbs: `--dry-run` shows what one would do, `--expect` does just that, or nothing."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated

import typer

from supervisor.cli.shell.client import ApiReply, Client, Params
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.output import print_notice, show_done, show_json
from supervisor.cli.shell.problems import CommandFailed, ProblemAnswer
from supervisor.views.attention.foreseen import EndingTask, ForeseenRange, VerbPreview

OUTDATED = "preview-outdated"
_DESCRIPTION = "/openapi.json"

DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what it would do, and change nothing.")
]
Expect = Annotated[
    str | None,
    typer.Option(
        "--expect",
        metavar="DIGEST",
        show_default="whatever it does",
        help="Do what the dry run with this digest has shown, or nothing; asks no more.",
    ),
]


@dataclass(frozen=True)
class VerbQuery:
    """Whether a verb is only shown, and which preview it is bound to."""

    dry_run: bool = False
    expect: str | None = None

    @property
    def asks(self) -> bool:
        """Whether people are asked before it is done, unless they have said --yes."""
        return not self.dry_run and self.expect is None

    def check(self, *, alone: bool) -> None:
        """Refuse a digest for several things, where a verb has only one for each.

        Raises:
            typer.BadParameter: with the way out.
        """
        if self.expect is not None and not alone:
            raise typer.BadParameter("a digest is of one preview: name one ID with --expect")

    def check_change(self, *, changes: bool, by: str) -> None:
        """Refuse a dry run, or a digest, of a command that only shows something.

        `by`: the options that change it, in words.

        Raises:
            typer.BadParameter: with the way out.
        """
        if not changes and (self.dry_run or self.expect is not None):
            raise typer.BadParameter(f"nothing would change: give {by} as well")

    def send(self, client: Client, call: Callable[[Params], ApiReply]) -> ApiReply:
        """Send the verb, or its dry run, with the parameters that say so.

        Raises:
            CommandFailed: the overlord is of a release without dry runs, and would do it.
        """
        if self.dry_run:
            _require_dry_runs(client)
            return call({"dryRun": "true"})
        try:
            return call({} if self.expect is None else {"expect": self.expect})
        except ProblemAnswer as problem:
            note_outdated(problem)
            raise


def note_outdated(problem: ProblemAnswer) -> None:
    """Say how to see the new preview, if that is what the problem is about."""
    if problem.kind == OUTDATED:
        print_notice("--dry-run shows what it would do now, with the new digest.")


def _require_dry_runs(client: Client) -> None:
    """An overlord of an earlier release would not know the parameter, and act."""
    if VerbPreview.__name__.encode() not in client.get(_DESCRIPTION).body:
        raise CommandFailed(
            "this overlord is of a release that has no dry run of this verb: nothing was sent"
        )


def show_preview(answer: ApiReply, output: Format) -> None:
    """Print the answer to a dry run."""
    if output is Format.JSON:
        show_json(answer.json())
    else:
        show_done(answer.read(VerbPreview).id, preview_text(answer))


def preview_text(answer: ApiReply) -> str:
    """Return the answer to a dry run in words, several lines; its digest goes to the notices."""
    preview = answer.read(VerbPreview)
    print_notice(f"--expect {preview.digest} does this, or nothing")
    return preview_lines(preview)


def preview_lines(preview: VerbPreview) -> str:
    """Return a preview in words, several lines."""
    return "\n".join(_lines(preview))


def _lines(preview: VerbPreview) -> Iterator[str]:
    yield f"{preview.id}: {preview.text}"
    yield from (f"  ends: {_task(each)}" for each in preview.ends or ())
    yield from (f"  publishes: {_range(each)}" for each in preview.publishes or ())
    yield from (f"  reads on: {_range(each)}" for each in preview.stays or ())
    yield from (f"  gives up: {_range(each)}" for each in preview.gives_up or ())
    yield from (f"  runs on: {task}" for task in preview.tasks or ())
    yield from (f"  {each.id}: {each.text}" for each in preview.items or ())
    if (files := preview.files) is not None:
        yield f"  files: {files.n:,} with {files.rows:,} rows, {files.bytes:,} bytes"
    for sent in preview.sent.records if preview.sent is not None else ():
        yield f"  fits: {sent.records:,} {sent.reason} of {sent.topic}:{sent.partition}"
    yield from (f"  warning: {warning}" for warning in preview.warnings)
    yield f"  undo: {preview.undo}"
    yield "  nothing is changed: a dry run"


def _task(task: EndingTask) -> str:
    held = "what it has read is not known"
    if task.unpublished is not None:
        held = f"{task.unpublished:,} offsets read and not published"
    return f"{task.task} on {task.worker}, {held}"


def _range(one: ForeseenRange) -> str:
    offsets = ", ".join(
        f"{o.topic}:{o.partition} from {o.start}" + ("" if o.to is None else f" to {o.to}")
        for o in one.offsets
    )
    return f"group {one.group}, {offsets}"
