"""The certificate of the overlord in the overview: who may read sees it."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import cast

from fastapi import FastAPI

from supervisor.core.attention.certificates import EndingCertificate
from supervisor.core.values.permissions import Role
from tests.supervisor.api.guarded import a_guarded_world, grants_of
from tests.supervisor.api.routes.cluster.overview.answers import PATH
from tests.supervisor.api.world import World

_KIND = "certificate-ending"


def _serves(world: World, certificate: EndingCertificate) -> None:
    state = cast("FastAPI", world.client.app).state
    overviews = replace(state.parts.overviews, certificate=certificate)
    state.parts = replace(state.parts, overviews=overviews)


def test_a_certificate_that_ends_soon_is_an_item_for_readers(
    tmp_path: Path, migrated: Path
) -> None:
    with a_guarded_world(tmp_path, migrated) as guarded:
        reader = guarded.token("reader", *grants_of(Role.VIEWER))
        nobody = guarded.token("nobody")

        def shown(token: str) -> list[dict[str, object]]:
            answered = guarded.ask("GET", PATH, token).json()["attention"]
            return [item for item in answered if item["kind"] == _KIND]

        assert shown(reader) == [], "plain HTTP"
        ends = guarded.world.clock.now() + timedelta(days=9)
        _serves(guarded.world, EndingCertificate("https://overlord-1:8090", ends))

        [item] = shown(reader)
        assert item["severity"] == "to-know"
        assert item["about"] == {"kind": "cluster", "id": ""}
        remedies = item["remedies"]
        assert isinstance(remedies, list)
        assert [each["action"] for each in remedies] == ["renew-certificate"]
        assert shown(nobody) == []
