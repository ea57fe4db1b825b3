"""The browser of the tests: it is had once, or the run says what to do."""

from pathlib import Path

import pytest

from tests.environment import chromium

pytestmark = pytest.mark.process


def test_it_is_unpacked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(chromium.VARIABLE, raising=False)

    first = chromium.ensure_chromium()
    unpacked_at_ns = first.program.stat().st_mtime_ns
    second = chromium.ensure_chromium()

    assert first == second
    assert second.program.stat().st_mtime_ns == unpacked_at_ns
    assert all(Path(folder).is_dir() for folder in second.environment.values())


def test_one_of_the_machine_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.touch(mode=0o755)
    monkeypatch.setenv(chromium.VARIABLE, str(program))

    assert chromium.ensure_chromium() == chromium.Chromium(program)


def test_a_named_one_that_is_none_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(chromium.VARIABLE, str(tmp_path / "none"))

    with pytest.raises(chromium.NoBrowser, match="is no program"):
        chromium.ensure_chromium()


def test_another_processor_needs_one_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(chromium.VARIABLE, raising=False)
    monkeypatch.setattr("platform.machine", lambda: "aarch64")

    with pytest.raises(chromium.NoBrowser, match=f"install Chromium.*{chromium.VARIABLE}"):
        chromium.ensure_chromium()


def test_without_npms_registry_it_says_what_can_be_done(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(chromium.VARIABLE, raising=False)
    monkeypatch.setenv("TIDEGATE_TEST_CACHE", str(tmp_path))
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "http://127.0.0.1:9/")
    monkeypatch.setenv("NPM_CONFIG_CACHE", str(tmp_path / "npm"))
    monkeypatch.setenv("NPM_CONFIG_FETCH_RETRIES", "0")

    with pytest.raises(chromium.NoBrowser, match=f"npm's registry, or {chromium.VARIABLE}"):
        chromium.ensure_chromium()

    assert [path.name for path in (tmp_path / "chromium").iterdir()] == [".lock"]
