"""An overlord that is attacked, and what has to hold after each attack."""

import sqlite3

import httpx

from tests.integration.cluster import Cluster

ALLOWED = "kafka.example:9092"
LISTS = {"TIDEGATE_KAFKA_ALLOW": ALLOWED, "TIDEGATE_REGISTRY_ALLOW": "registry.example:8081"}


def left_behind(cluster: Cluster) -> tuple[set[str], dict[str, int]]:
    files = {str(p) for p in cluster.folder.parent.rglob("*") if p.name != "metadata.db-journal"}
    with sqlite3.connect(f"file:{cluster.folder}/metadata.db?mode=ro", uri=True) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        rows = {
            name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608 -- its own names
            for (name,) in tables
            if name.startswith(("supervisor", "spec", "segment", "task", "generation", "offset"))
        }
    database.close()
    assert rows, "no table was counted"
    return files, rows


def refused(answer: httpx.Response, *, text: str = "") -> None:
    assert 400 <= answer.status_code < 500, f"{answer.status_code}: {answer.text[:300]}"
    problem = answer.json()
    assert problem["status"] == answer.status_code
    assert text in answer.text, answer.text[:600]
