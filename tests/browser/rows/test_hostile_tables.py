"""Tables whose texts and numbers are hostile: each is shown as it is."""

from functools import partial

import pytest
from playwright.sync_api import Page, expect

from tests.browser.hostile.answers import (
    FIRST,
    LAST,
    TEXTS,
    WHOLE,
    WORDS,
    Answers,
    Document,
    Planting,
    grouped,
    rows,
)
from tests.browser.hostile.conftest import Judge
from tests.browser.hostile.payloads import shown
from tests.browser.rows.conftest import Published

pytestmark = [pytest.mark.process, pytest.mark.kafka, pytest.mark.spark]

_DAY = {"intervalStart": "2026-01-01T00:00:00Z", "intervalEnd": "2026-01-02T00:00:00Z"}
_FEEDERS = ["by-hour", "by-day"]


def _export(text: str, **changed: object) -> Document:
    """An export as an answer has it, with a text in each of its texts."""
    row = {"dataSource": text, "format": "delta", "state": "stuck", "lagSeconds": 61.0}
    facts = {"problem": text, "location": text, "version": FIRST, "sequence": LAST}
    return {**row, **facts, "exportedAt": None, **changed}


def _stats(document: Document) -> Document:
    row = document["stats"][0]
    fed = {"exports": ["delta"], "rows": FIRST, "bytes": LAST}
    return {"stats": [{**row, **fed, "name": text, "supervisors": [text]} for text in TEXTS]}


def _exports(document: Document) -> Document:
    words = [_export(TEXTS[0], format=word, state=word) for word in WORDS]
    return {**document, "exports": [*map(_export, TEXTS), *words]}


def _broken(document: Document) -> Document:
    item = {"kind": "no-capacity", "severity": "broken", "since": None, "dataSource": None}
    more = {"text": "broken", "about": {"kind": "cluster", "id": "c"}, "remedies": []}
    more |= {"partitions": []}
    return {**document, "attention": [{**item, **more, "supervisors": [*TEXTS[::2], *_FEEDERS]}]}


def test_a_table_with_a_broken_supervisor_says_which(
    judge: Judge, page: Page, published: Published
) -> None:
    answers = Answers(page)
    answers.change(r"/api/v1/datasources\?stats", partial(_fed, published.id))
    answers.change(r"/api/v1/overview$", _broken)

    judge.go("/ui/tables?sort=name")

    cells = page.get_by_role("table", name="Tables").locator("tbody tr td:nth-child(10)")
    expect(cells).to_have_text(["broken: by-hour", "2 supervisors broken"])
    for cell in cells.all():
        assert cell.evaluate("each => each.scrollWidth <= each.clientWidth"), cell.text_content()
    scroller = page.locator("[data-density]", has=cells.first)
    assert scroller.evaluate("each => each.scrollWidth - each.clientWidth") == 0


def _fed(name: str, document: Document) -> Document:
    [row] = [each for each in document["stats"] if each["name"] == name]
    fed = {"one": _FEEDERS[:1], "two": [*_FEEDERS, "by-week"]}
    return {"stats": [{**row, "name": name, "supervisors": ids} for name, ids in fed.items()]}


def test_a_list_of_tables(judge: Judge, page: Page, published: Published) -> None:
    assert published.id
    answers = Answers(page)
    answers.change(r"/api/v1/datasources\?stats", _stats)
    answers.change(r"/api/v1/exports$", _exports)
    answers.change(r"/api/v1/overview$", _broken)

    judge.go("/ui/tables?sort=rows")

    drawn = page.get_by_role("table", name="Tables").locator("tbody tr")
    expect(drawn).to_have_count(len(TEXTS))
    expect(drawn.filter(has_text="broken")).to_have_count(len(TEXTS[::2]))
    texts = sorted(drawn.all_text_contents())
    for text in TEXTS:
        assert any(row.startswith(shown(text)) and row.count(shown(text)) > 1 for row in texts)
    judge.shows(*WORDS)
    judge.fits()
    drawn.first.get_by_text("9007 T").hover()
    expect(page.get_by_role("tooltip")).to_have_text(grouped(FIRST))


def test_the_summary_and_the_exports_of_a_table(
    judge: Judge, page: Page, published: Published
) -> None:
    name, answers = published.id, Answers(page)
    answers.change(r"/api/v1/datasources\?stats", partial(_one, name, [WHOLE]))
    answers.change(
        r"/api/v1/.*/coverage$", partial(_coverage, Planting(WHOLE)), source=_source(published)
    )
    answers.change(r"/api/v1/supervisors\?", partial(_feeders, Planting(WHOLE), name))
    answers.change(
        rf"/datasources/{name}/exports$",
        lambda _: {"exports": [_export(WHOLE), *(_export(word, format=word) for word in WORDS)]},
    )

    judge.go(f"/ui/tables/{name}/summary")
    judge.shows(f"stuck 1 m 01 s{WHOLE}", *WORDS, f"fed by {WHOLE}")
    judge.fits()
    page.locator("dl").get_by_text("9007 T").first.hover()
    expect(page.get_by_role("tooltip")).to_contain_text("9,007,199,254,7")

    judge.go(f"/ui/tables/{name}/exports")
    judge.shows(WHOLE, *WORDS, f"{grouped(FIRST)}, of change {grouped(LAST)}")
    judge.fits()


def test_the_coverage_of_a_table(judge: Judge, page: Page, published: Published) -> None:
    name, planting, answers = published.id, Planting(WHOLE), Answers(page)
    answers.change(r"/api/v1/datasources\?stats", partial(_one, name, [WHOLE, *TEXTS]))
    answers.change(r"/api/v1/.*/coverage$", partial(_coverage, planting), source=_source(published))

    judge.go(f"/ui/tables/{name}/coverage")
    judge.shows(WHOLE)
    numbers = planting.numbers[:12]
    assert len(numbers) == 12
    expect(page.get_by_role("main")).to_contain_text("committed = next")
    content = page.get_by_role("main").text_content() or ""
    assert {grouped(n) for n in numbers} & set(content.replace("(", " ").split())
    judge.fits()
    judge.go(f"/ui/tables/{name}/coverage?by=runs")
    runs = page.get_by_role("table", name="Runs of offsets").locator("tbody tr")
    expect(runs.first).to_contain_text(shown(WHOLE))
    judge.fits()


def test_the_time_and_the_rules_of_a_table(judge: Judge, page: Page, published: Published) -> None:
    name, planting, answers = published.id, Planting(WHOLE), Answers(page)
    answers.change(rf"/datasources/{name}/timeline", planting.into)
    rule = {"dataSource": name, "author": WHOLE, "setAt": _DAY["intervalStart"]}
    answers.change(r"/retention$", lambda _: {**rule, "keepFor": WHOLE, "ruleOf": WHOLE})
    sizes = {"targetRows": FIRST, "targetBytes": LAST, "filesMin": LAST}
    answers.change(
        rf"/datasources/{name}/compaction$",
        lambda _: {**rule, **sizes, "skipOffsetFromLatest": WHOLE},
    )
    answers.change(r"/api/v1/compactions\?", _compactions)

    judge.go(f"/ui/tables/{name}/time")
    buckets = page.get_by_role("table", name="Buckets of time").locator("tbody tr")
    expect(buckets.first).to_contain_text("9,007,199,254,7")
    judge.is_calm()
    judge.fits()
    judge.go(f"/ui/tables/{name}/time?show=files")
    judge.is_calm()

    judge.go(f"/ui/tables/{name}/rules")
    judge.shows(f"kept for {WHOLE}", f"rule is that of {WHOLE}", f"Set by {WHOLE}", f"last {WHOLE}")
    judge.shows(*TEXTS, *WORDS, grouped(FIRST), f"{grouped(LAST)} or more")
    judge.fits()


def test_the_files_and_the_code_of_a_table(judge: Judge, page: Page, published: Published) -> None:
    name, answers = published.id, Answers(page)
    answers.change(rf"/datasources/{name}/segments\?", _segments)
    answers.change(rf"/datasources/{name}/snippets$", partial(_snippets, WHOLE))

    judge.go(f"/ui/tables/{name}/files")
    drawn = page.get_by_role("table", name="Files").locator("tbody tr")
    expect(drawn).to_have_count(len(TEXTS))
    for each, row in zip(TEXTS, drawn.all_text_contents(), strict=True):
        assert row.count(shown(each)) >= 2, row
    judge.is_calm()
    judge.fits()
    page.get_by_role("checkbox", name="Select all rows that are shown").check()
    bar = page.get_by_role("toolbar", name="Selected files")
    expect(bar).to_contain_text(f"{grouped(LAST * len(TEXTS))} rows")

    judge.go(f"/ui/tables/{name}/code")
    judge.shows(WHOLE, *WORDS)
    for word in WORDS:
        page.get_by_role("button", name=shown(word), exact=True).click()
        expect(page.get_by_role("region", name="Code")).to_contain_text(shown(WHOLE))
        judge.is_calm()
    judge.fits()


def _source(published: Published) -> str:
    cluster = published.cluster
    return f"http://127.0.0.1:{cluster.port}/api/v1/supervisors/{published.id}/coverage"


def _one(name: str, supervisors: list[str], document: Document) -> Document:
    """The totals of one table; others have no room in them."""
    [row] = [each for each in document["stats"] if each["name"] == name]
    return {"stats": [{**Planting("").into(row), "name": name, "supervisors": supervisors}]}


def _coverage(planting: Planting, document: Document) -> Document:
    planting.numbers.clear()
    return {**planting.into(document), "complete": False}


def _feeders(planting: Planting, name: str, document: Document) -> Document:
    changed = [
        {**planting.into(row), "dataSource": name, "state": word, "detailedState": word}
        for row in document["supervisors"][:1]
        for word in WORDS
    ]
    return {**document, "supervisors": changed}


def _compactions(document: Document) -> Document:
    row = {"supervisorId": "s", "dataSource": "d", "workerId": "w", "files": LAST, "rows": FIRST}
    times = {**_DAY, "createdAt": _DAY["intervalStart"], "endedAt": _DAY["intervalEnd"]}
    some = [
        {**row, **times, "id": text, "statusCode": "FAILED", "reason": text, "detail": text}
        for text in TEXTS
    ]
    words = [{**some[0], "id": f"word {word}", "statusCode": word} for word in WORDS]
    return {**document, "compactions": [*some, *words]}


def _segments(document: Document) -> Document:
    row = {**document["segments"][0], "rows": LAST, "sizeBytes": LAST}
    kept = ("rows", "sizeBytes")
    return {
        **document,
        "segments": [
            {**each, **{name: row[name] for name in kept}, "compactionId": "c"}
            for each in rows(row, "id")
        ],
        "next": None,
    }


def _snippets(text: str, document: Document) -> Document:
    some = [{**document["snippets"][0], "reader": word, "code": text} for word in WORDS]
    return {**document, "snippets": some}
