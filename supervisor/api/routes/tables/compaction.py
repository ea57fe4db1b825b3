"""Routes of compaction: the rule of a table, its compactions, and compaction on demand."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, Field

from supervisor.api.http.access import COMPACTION, DATA_SOURCE, LISTED, needs
from supervisor.api.http.deps import Asking, Author, Parts
from supervisor.api.http.previews import DryRun, Expect, preview_of, previewed
from supervisor.api.routes.cluster.audit import Cursor, Limit
from supervisor.core.values.intervals import FORM, PATTERN, parse_interval
from supervisor.core.values.permissions import Permission
from supervisor.services.foresight.looks import bound
from supervisor.views.attention.foreseen import VerbPreview
from supervisor.views.tables.compaction import (
    CompactionPage,
    CompactionRuleView,
    CompactionsPage,
    CompactionTarget,
    CompactionView,
    WantedRule,
    compaction_view,
    compaction_views,
    rule_view,
)

router = APIRouter(prefix="/api/v1", tags=["compaction"])

TABLE = "/datasources/{data_source}"
SHOWN = 100


def _interval(text: str) -> str:
    parse_interval(text)
    return text


class WantedNow(CompactionTarget):
    """What to compact at once."""

    interval: Annotated[str, AfterValidator(_interval)] | None = Field(
        default=None,
        description=f"Only chunks wholly inside: {FORM}.",
        examples=["2026-01-01/2026-01-02"],
        json_schema_extra={"pattern": PATTERN},
    )


@router.get(f"{TABLE}/compaction", dependencies=[needs(Permission.READ, DATA_SOURCE)])
def get_rule(data_source: str, parts: Parts) -> CompactionRuleView:
    """Tell how a table is compacted by itself."""
    return rule_view(data_source, parts.compacting.rule(data_source))


@router.put(
    f"{TABLE}/compaction",
    response_model=CompactionRuleView | VerbPreview,
    dependencies=[needs(Permission.COMPACT, DATA_SOURCE)],
)
def put_rule(
    data_source: str,
    wanted: WantedRule,
    author: Author,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> CompactionRuleView | JSONResponse:
    """Compact a table by itself from now on."""
    target = wanted.target(parts.compacting.file_sizes(data_source))
    skip = wanted.skip_offset_from_latest
    look = parts.looks.compaction_rule(data_source, target, skip)
    if dry_run:
        return preview_of(parts.looks.shown(look))
    judge = bound(expect, look)
    with previewed():
        rule = parts.compacting.set_rule(data_source, target, skip, author, judge=judge)
    return rule_view(data_source, rule)


@router.delete(
    f"{TABLE}/compaction",
    response_model=CompactionRuleView | VerbPreview,
    dependencies=[needs(Permission.COMPACT, DATA_SOURCE)],
)
def drop_rule(
    data_source: str,
    author: Author,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> CompactionRuleView | JSONResponse:
    """Compact a table only on request; compactions that run go on."""
    look = parts.looks.compaction_rule(data_source, None)
    if dry_run:
        return preview_of(parts.looks.shown(look))
    with previewed():
        parts.compacting.drop_rule(data_source, author, bound(expect, look))
    return rule_view(data_source, parts.compacting.rule(data_source))


@router.post(
    f"{TABLE}/compact",
    response_model=CompactionPage | VerbPreview,
    dependencies=[needs(Permission.COMPACT, DATA_SOURCE)],
)
def compact(
    data_source: str,
    wanted: WantedNow,
    author: Author,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> CompactionPage | JSONResponse:
    """Begin to compact the small files of a table; answer with what was begun."""
    within = None if wanted.interval is None else parse_interval(wanted.interval)
    target = wanted.target(parts.compacting.file_sizes(data_source))
    foresight = parts.table_foresight
    if dry_run:
        return preview_of(foresight.of_compaction(data_source, target, within))
    with previewed():
        begun = foresight.compact(data_source, target, author, within, expect=expect)
    return compaction_views(begun)


@router.get("/compactions", dependencies=[needs(Permission.READ, LISTED)])
def list_compactions(
    parts: Parts,
    asking: Asking,
    data_source: Annotated[
        str | None, Query(alias="dataSource", description="Only those of this table.")
    ] = None,
    limit: Limit = SHOWN,
    cursor: Cursor = None,
) -> CompactionsPage:
    """List compactions, newest first."""
    found, following = parts.compacting.page(data_source, limit, cursor)
    shown = compaction_views([row for row in found if asking.may_read(row.data_source)])
    return CompactionsPage(compactions=shown.compactions, next=following)


@router.get("/compactions/{compaction}", dependencies=[needs(Permission.READ, COMPACTION)])
def get_compaction(compaction: str, parts: Parts) -> CompactionView:
    """Tell what became of one compaction."""
    return compaction_view(parts.compacting.get(compaction))


@router.post(
    "/compactions/{compaction}/cancel",
    response_model=CompactionView | VerbPreview,
    dependencies=[needs(Permission.COMPACT, COMPACTION)],
)
def cancel(
    compaction: str, author: Author, parts: Parts, *, expect: Expect = None, dry_run: DryRun = False
) -> CompactionView | JSONResponse:
    """Give up a compaction that waits or runs; its files stay what the table is made of."""
    look = parts.looks.cancel(compaction)
    if dry_run:
        return preview_of(parts.looks.shown(look))
    with previewed():
        return compaction_view(parts.compacting.cancel(compaction, author, bound(expect, look)))
