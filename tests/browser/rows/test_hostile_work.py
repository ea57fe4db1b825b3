"""Tasks and workers whose texts and numbers are hostile: each is shown as it is."""

import json
from functools import partial

import pytest
from playwright.sync_api import Page, Route, expect

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
from tests.browser.hostile.payloads import LONG, shown
from tests.browser.rows.conftest import Published

pytestmark = [pytest.mark.process, pytest.mark.kafka, pytest.mark.spark]

_NOTHING_HIDDEN = '{"hidden": {"tasks": [], "workers": []}}'
_STARTS = {"0": FIRST, "1": LAST - 9_000}
_ENDS = {"0": FIRST + 100, "1": LAST - 1}
"""By partition; the last number of all is Druid's end of a range whose end is not fixed."""
_LOG_LINES = (*TEXTS[:-3], "red", "link", "a\x08b\x7fc\x9bd")
"""Colours and links of terminals are taken off a line."""


@pytest.fixture(autouse=True)
def whole(page: Page) -> None:
    """Each column of a table is shown."""
    kept = json.dumps(_NOTHING_HIDDEN)
    page.add_init_script(f"localStorage.setItem('tidegate:preferences', {kept})")


@pytest.fixture
def task(published: Published) -> str:
    """A task that has published."""
    query = {"supervisor": published.id, "status": "SUCCESS"}
    [newest, *_] = published.cluster.http.get("/api/v1/tasks", params=query).json()["tasks"]
    return str(newest["id"])


def _tasks(document: Document) -> Document:
    """A page of failed tasks, and one for each word that no release knows."""
    if not document["tasks"]:  # of those that failed by themselves
        return document
    row = document["tasks"][0] | {"errorMsg": "it failed", "reason": "it failed", "workerId": "w"}
    failed = rows(row, "id", status="FAILED", runnerStatusCode="NONE", attempt=FIRST, replica=LAST)
    words = [row | {"id": f"word {word}", "status": word, "reason": word} for word in WORDS]
    return {"tasks": [*failed, *words], "next": None}


def test_a_list_of_tasks(judge: Judge, page: Page, task: str) -> None:
    assert task
    Answers(page).change(r"/api/v1/tasks\?", _tasks)

    judge.go("/ui/tasks?state=all")

    drawn = page.get_by_role("table", name="Tasks").locator("tbody tr")
    expect(drawn).to_have_count(len(TEXTS) + len(WORDS))
    for text, row in zip((*TEXTS, *WORDS), drawn.all_text_contents(), strict=True):
        fields = 2 if text in WORDS and row.startswith("word") else 6
        assert row.count(shown(text)) >= fields, f"{text!r}: {row}"
    judge.shows(grouped(FIRST), grouped(LAST))
    judge.fits()


def test_one_task(judge: Judge, page: Page, published: Published, task: str) -> None:
    """Goal: summary, report, payload and log have each text and each digit."""
    planting = Planting(WHOLE, keeps=frozenset({"task", "id"}))
    answers = Answers(page)
    of = f"/druid/indexer/v1/task/{task}"
    supervisor = f"/api/v1/supervisors/{published.id}"
    ranges = f"http://127.0.0.1:{published.cluster.port}{supervisor}/generations"
    answers.change(rf"{of}/status$", partial(_failed, planting))
    answers.change(rf"{of}$", partial(_payload, planting))
    answers.change(rf"{of}/reports$", partial(_report, planting))
    answers.change(r"/generations\?", partial(_generations, planting), source=ranges)

    judge.go(f"/ui/tasks/{task}/summary")
    judge.shows(f"It failed after 1.0 s: {WHOLE}", f"of topic {WHOLE}", f"by {WHOLE}")
    judge.fits()
    offsets = page.get_by_role("table", name="Offsets")
    for number in (*_STARTS.values(), *_ENDS.values()):
        expect(offsets).to_contain_text(grouped(number))
    page.locator("dl").get_by_text("9007 T").first.hover()
    expect(page.get_by_role("tooltip")).to_contain_text("9,007,199,254,7")

    judge.go(f"/ui/tasks/{task}/report")
    samples = page.get_by_role("table", name="Samples of records")
    expect(samples.locator("tbody tr")).to_have_count(len(TEXTS))
    for each, row in zip(TEXTS, samples.locator("tbody tr").all_text_contents(), strict=True):
        assert row.count(shown(each)) == 3, row
        assert grouped(LAST) in row
    judge.shows(*(json.dumps(each, ensure_ascii=False) for each in TEXTS), str(LAST))
    judge.fits()

    judge.go(f"/ui/tasks/{task}/payload")
    judge.shows(*(json.dumps(each, ensure_ascii=False) for each in TEXTS), *map(str, (FIRST, LAST)))
    judge.fits()


def _failed(planting: Planting, document: Document) -> Document:
    status = planting.into(document["status"])
    changed = {"status": "FAILED", "runnerStatusCode": "NONE", "duration": 1_000}
    return {**document, "status": status | changed | {"reason": planting.text}}


def _payload(planting: Planting, document: Document) -> Document:
    io = planting.into(document["payload"]["ioConfig"])
    io["startSequenceNumbers"]["partitionSequenceNumberMap"] = _STARTS
    io["endSequenceNumbers"]["partitionSequenceNumberMap"] = _ENDS
    context = {"least": FIRST, "most": LAST, **{text: [text] for text in TEXTS}}
    return {**document, "payload": {**document["payload"], "ioConfig": io, "context": context}}


def _report(planting: Planting, document: Document) -> Document:
    payload = document["ingestionStatsAndErrors"]["payload"]
    stats = planting.into(payload["rowStats"])
    totals = stats.get("totals", stats)
    totals["rejected"] = dict.fromkeys(TEXTS, LAST)
    samples = [
        {"topic": text, "partition": 0, "offset": LAST, "details": [text], "input": text}
        for text in TEXTS
    ]
    payload |= {"rowStats": stats, "unparseableEvents": {"buildSegments": samples}}
    return document


def _generations(planting: Planting, document: Document) -> Document:
    changed = planting.into(document)
    for each in changed["generations"]:
        each |= {"id": planting.text, "publishedBy": planting.text}
        for attempt in each["attempts"]:
            attempt |= {"status": "FAILED", "reason": planting.text}
    return changed


def test_a_log(judge: Judge, page: Page, task: str) -> None:
    lines = [LONG, *TEXTS]

    def answer(route: Route) -> None:
        response = route.fetch()
        body = "\n".join(lines).encode()
        size = {"x-tidegate-log-start": "0", "x-tidegate-log-size": str(len(body))}
        route.fulfill(response=response, headers={**response.headers, **size}, body=body)

    page.route(f"**/druid/indexer/v1/task/{task}/log?*", answer)
    judge.go(f"/ui/tasks/{task}/log?wrap=no")
    drawn = page.get_by_role("region", name="Lines of the log").locator("li")
    expect(drawn).to_have_count(len(lines))
    texts = drawn.all_text_contents()
    for text, line in zip(_LOG_LINES, texts[1:], strict=True):
        assert line.endswith(shown(text)), line
    assert LONG in texts[0]
    judge.is_calm()
    judge.fits()


def _workers(document: Document) -> Document:
    [row] = document
    row = row | {"previousEnd": "it ended"}
    many = rows(row, "id", liveness="LOST", slots={"used": FIRST, "total": LAST}, taskCount=LAST)
    return [*many, *(row | {"id": f"word {word}", "liveness": word} for word in WORDS)]


def _attention(document: Document) -> Document:
    """A warning for each worker, and slots of 64 bits."""
    item: Document = {
        "kind": "worker-lost",
        "severity": "broken",
        "since": None,
        "dataSource": None,
    }
    item |= {"supervisors": [], "remedies": [], "partitions": []}
    attention = [
        {**item, "about": {"kind": "worker", "id": f"{n} {text}"}, "text": text}
        for n, text in enumerate(TEXTS)
    ]
    slots = {"needed": LAST, "used": FIRST, "free": 1, "total": LAST}
    return {**document, "attention": attention, "slots": slots}


def test_a_list_of_workers(judge: Judge, page: Page, published: Published) -> None:
    assert published.id
    answers = Answers(page)
    answers.change(r"/api/v1/workers$", _workers)
    answers.change(r"/api/v1/overview$", _attention)

    judge.go("/ui/workers")

    drawn = page.get_by_role("table", name="Workers").locator("tbody tr")
    expect(drawn).to_have_count(len(TEXTS) + len(WORDS))
    contents = dict.fromkeys(drawn.all_text_contents())
    for n, text in enumerate(TEXTS):
        [row] = [each for each in contents if each.startswith(f"{n} {shown(text)}")]
        assert row.count(shown(text)) >= 5, row
        assert f"{grouped(FIRST)} of {grouped(LAST)}" in row
    for word in WORDS:
        [row] = [each for each in contents if each.startswith(f"word {shown(word)}")]
        assert row.count(shown(word)) == 2, row
    too_few = grouped(LAST - FIRST - 1)
    judge.shows(f"{too_few} too few", f"of {grouped(LAST)}")
    judge.fits()


def test_one_worker(judge: Judge, page: Page, published: Published) -> None:
    [worker] = published.cluster.http.get("/api/v1/workers").json()

    def change(document: Document) -> Document:
        planted = Planting(WHOLE, keeps=frozenset({"id"})).into(document)
        [one, *_] = document["tasks"]
        times = {"intervalStart": "2026-01-01T00:00:00Z", "intervalEnd": "2026-01-02T00:00:00Z"}
        compaction = {"dataSource": "", "detail": "", "failure": "FAILED", "inputs": LAST, **times}
        planted |= {
            "tasks": rows(one | {"detail": "it reads"}, "id", phase=WHOLE, attempt=FIRST),
            "compactions": [
                {**compaction, "id": each, "dataSource": each, "detail": each, "assignedAt": None}
                for each in TEXTS
            ],
            "previousEnd": WHOLE,
            "memory": {"residentBytes": LAST, "heapMaxBytes": FIRST},
            "slots": {"used": FIRST, "total": LAST},
            "incarnation": LAST,
            "uptime": 3,
        }
        return planted

    Answers(page).change(r"/api/v1/workers/[^/]+$", change)
    judge.go(f"/ui/workers/{worker['id']}")

    tasks = page.get_by_role("region", name="Tasks").locator("tbody tr")
    expect(tasks).to_have_count(len(TEXTS))
    for each, row in zip(TEXTS, tasks.all_text_contents(), strict=True):
        assert row.count(shown(each)) >= 3, row
        assert shown(WHOLE) in row
    process = page.get_by_role("region", name="Process")
    expect(process).to_contain_text(f"Ended before{shown(WHOLE)}")
    expect(process).to_contain_text(f"Incarnation{grouped(LAST)}")
    judge.shows(*TEXTS, f"{grouped(FIRST)} of {grouped(LAST)}", f"{grouped(LAST - FIRST)} free")
    judge.fits()
