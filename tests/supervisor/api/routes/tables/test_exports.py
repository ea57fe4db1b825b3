"""Exports by the API: asked for in a spec, shown with their lag, followed by code that reads."""

import copy
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import cast

from supervisor.core.tables.exports import ExportVersion
from supervisor.core.values.export_formats import ExportFormat
from tests.supervisor.api.routes.tables.test_segments import publish
from tests.supervisor.api.world import (
    RULES,
    SUPERVISORS,
    TOPIC,
    Json,
    World,
    a_world,
    spec_document,
)

EXPORTS = f"/api/v1/datasources/{TOPIC}/exports"
SNIPPETS = f"/api/v1/datasources/{TOPIC}/snippets"


def asking(*formats: str) -> Json:
    document = copy.deepcopy(spec_document(task_count=1, replicas=1))
    cast("Json", cast("Json", document["spec"])["dataSchema"])["exports"] = list(formats)
    return document


def exports(world: World) -> list[Json]:
    return cast("list[Json]", world.get_object(EXPORTS)["exports"])


def test_a_spec_switches_exports_on_and_off_and_disturbs_no_task(world: World) -> None:
    publish(world)
    answer = world.post(SUPERVISORS, asking("iceberg", "delta", "delta")).json()
    assert [(c["field"], c["effect"]) for c in answer["changes"]] == [
        ("/spec/dataSchema/exports", "hot")
    ]
    assert answer["restarted"] is False

    assert [(e["format"], e["state"]) for e in exports(world)] == [
        ("delta", "behind"),
        ("iceberg", "behind"),
    ]
    world.post(SUPERVISORS, asking("iceberg"))
    assert [(e["format"], e["state"]) for e in exports(world)] == [
        ("delta", "off"),
        ("iceberg", "behind"),
    ]
    assert world.get_object("/api/v1/exports")["exports"] == exports(world)


def test_get_gives_back_what_was_asked_for(world: World) -> None:
    publish(world)
    world.post(SUPERVISORS, asking("delta"))
    document = world.get_object(f"{SUPERVISORS}/{TOPIC}")

    assert cast("Json", document["dataSchema"])["exports"] == ["delta"]
    assert world.post(SUPERVISORS, document).json()["modified"] is False


def test_the_lag_counts_from_the_oldest_change_that_is_not_exported(world: World) -> None:
    publish(world)
    world.post(SUPERVISORS, asking("delta"))
    world.clock.advance(timedelta(seconds=90))

    [export] = exports(world)
    assert cast("float", export["lagSeconds"]) >= 90
    assert (export["version"], export["location"], export["problem"]) == (None, None, "")
    text = world.client.get("/metrics").text
    assert f'tidegate_export_lag_seconds{{format="delta",table="{TOPIC}"}}' in text
    assert f'tidegate_export_sequence{{format="delta",table="{TOPIC}"}} 0.0' in text


def test_an_unknown_format_is_refused_with_the_nearest(world: World) -> None:
    refused = world.post(SUPERVISORS, asking("detla"))

    assert refused.status_code == 400
    [error] = refused.json()["errors"]
    assert error["pointer"] == "/spec/dataSchema/exports/0"
    assert error["hint"] == "did you mean delta?"


def test_a_format_whose_package_is_missing_is_refused_with_its_name(
    tmp_path: Path, migrated: Path
) -> None:
    with a_world(tmp_path, migrated, rules=replace(RULES, exports=frozenset())) as bare:
        refused = bare.post(SUPERVISORS, asking("delta"))

    assert refused.status_code == 400
    [error] = refused.json()["errors"]
    assert error["pointer"] == "/spec/dataSchema/exports"
    assert "tidegate[delta]" in error["hint"]


def test_a_table_that_nobody_knows_has_no_exports(world: World) -> None:
    world.get(EXPORTS, 404)
    world.get(SNIPPETS, 404)


def test_snippets_are_given_for_what_can_read_the_table(world: World) -> None:
    publish(world)
    world.post(SUPERVISORS, asking("delta"))
    answer = world.get_object(f"{SNIPPETS}?reader=deltalake", 409)
    assert answer["format"] == "delta"

    with world.store.leading(world.leadership.term()) as tx:
        found = tx.exports.get(TOPIC, ExportFormat.DELTA)
        assert found is not None
        tx.exports.put(found.advanced_to(1, ExportVersion(0, TOPIC), world.clock.now()))
    snippets = cast("list[Json]", world.get_object(SNIPPETS)["snippets"])

    readers = [each["reader"] for each in snippets]
    assert readers == ["duckdb", "polars", "spark", "pandas", "deltalake"]
    assert all("http://localhost:8090/api/v1/" in str(each["code"]) for each in snippets)
