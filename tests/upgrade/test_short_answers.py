"""Syncs between release 0.1.0 and this one, in both orders: nobody gets what it cannot read.

Slow: overlords of two releases start as processes.
"""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from tasks.contract.messages import KNOWN_TERM_HEADER, SyncRequest, SyncResponse
from tasks.worker.overlord_client import HttpOverlord
from tests.upgrade.test_releases import WORKER, Releases, earlier

__all__ = ["earlier"]

pytestmark = [pytest.mark.process, pytest.mark.long]
REQUEST = SyncRequest(worker_id="w2", incarnation=1, sequence=1, url="http://w2:8091", slots=1)
EARLIER_CLIENT = f"""
import sys
from tasks.contract import SyncRequest
from tasks.overlord_http import HttpOverlord

with HttpOverlord([sys.argv[1]]) as overlord:
    request = SyncRequest.from_json('{REQUEST.model_copy(update={"worker_id": WORKER}).to_json()}')
    for number in range(3):
        answer = overlord.sync(request)
        print(answer.revision)
        request = request.model_copy(update={{"known": answer.revision, "sequence": number + 2}})
"""


def _revisions(client: HttpOverlord) -> list[str]:
    """Sync three times as a worker of this release does; return the revisions."""
    request, answers = REQUEST, list[SyncResponse]()
    for number in range(3):
        answers.append(client.sync(request))
        news = {"known": answers[-1].revision, "sequence": request.sequence + number + 1}
        request = request.model_copy(update=news)
    return [answer.revision for answer in answers]


def _short(url: str, known: SyncResponse) -> bool:
    """Whether the overlord answers in short to a worker that has its answer."""
    request = REQUEST.model_copy(update={"known": known.revision, "sequence": 99})
    headers = {KNOWN_TERM_HEADER: str(known.term), "Content-Type": "application/json"}
    path = f"{url}/internal/v1/workers/{request.worker_id}/sync"
    answer = httpx.post(path, content=request.to_json(), headers=headers)
    assert answer.status_code == 200, answer.text
    return "unchanged" in answer.json()


def _of_the_earlier_worker(url: str, earlier_release: Path) -> list[str]:
    done = subprocess.run(
        (sys.executable, "-c", EARLIER_CLIENT, url),
        env={"PYTHONPATH": str(earlier_release)},
        cwd=earlier_release,
        capture_output=True,
        text=True,
        check=False,
        timeout=timedelta(minutes=1).total_seconds(),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_each_release_understands_the_answers_of_the_other(
    earlier: Path,
    tmp_path: Path,
) -> None:
    """Goal: overlords first and workers first, both are ways to upgrade."""
    with Releases(tmp_path, earlier=earlier) as cluster:
        cluster.start_overlord()
        with HttpOverlord([cluster.url]) as client:
            assert len(set(_revisions(client))) == 1
            assert not _short(cluster.url, client.sync(REQUEST)), "it does not know the header"

        cluster.change("overlord")

        with HttpOverlord([cluster.url]) as client:
            assert len(set(_revisions(client))) == 1
            assert _short(cluster.url, client.sync(REQUEST))
        assert len(set(_of_the_earlier_worker(cluster.url, earlier))) == 1
