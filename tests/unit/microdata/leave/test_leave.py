"""Nothing leaves unregistered, and what could not leave stands in nobody's way."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from tenue.errors import Conflict, InvalidArgument
from tenue.ledger import Memory
from tenue.microdata.leave import leave as leaving
from tenue.microdata.leave import save as saving
from tenue.microdata.leave.leave import Target
from tenue.microdata.release import publish_into
from unit.microdata.census import people, schema

SETTINGS: dict[str, Any] = {
    "method": "swap",
    "k": 4,
    **dict.fromkeys(("by", "l", "t", "gamma")),
    "override": (),
}


def publish(folder: Path, ledger: Memory | None, **changes: Any) -> Any:
    settings = {**SETTINGS, **changes}
    return publish_into(Target(folder), people(), schema=schema(), ledger=ledger, **settings)


def kinds(ledger: Memory) -> list[str]:
    return [entry.kind for entry in ledger.entries()]


def hidden(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_release_is_registered_and_then_there(tmp_path: Path) -> None:
    ledger = Memory()
    release, manifest = publish(tmp_path / "out", ledger)
    (entry,) = [e for e in ledger.entries() if e.kind == "rows-released"]
    assert entry.fact.release_digest == release.digest  # type: ignore[union-attr]
    assert manifest["rows"] == 60
    assert (tmp_path / "out" / "table.parquet").exists()
    assert hidden(tmp_path) == []
    with pytest.raises(Conflict):
        publish(tmp_path / "two", ledger)


def test_at_the_moment_of_registering_nothing_has_its_name_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant saves first: a release would be there while the ledger still may refuse it."""
    seen = []

    def watching(*given: Any, **how: Any) -> None:
        (draft,) = hidden(tmp_path)
        seen.append((draft.stat().st_mode & 0o777, sorted(p.name for p in draft.iterdir())))
        assert not (tmp_path / "out").exists()

    monkeypatch.setattr(leaving, "register", watching)
    publish(tmp_path / "out", Memory())
    assert seen == [(0o700, ["certificate.json", "manifest.json", "table.parquet"])]


def test_what_cannot_be_written_is_never_registered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    ledger = Memory()
    with monkeypatch.context() as patch:
        patch.setattr(saving, "_fill", full)
        with pytest.raises(InvalidArgument):
            publish(tmp_path / "out", ledger)
    assert kinds(ledger) == []
    assert list(tmp_path.iterdir()) == []
    publish(tmp_path / "out", ledger)


def test_what_cannot_get_its_name_is_withdrawn_and_may_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stuck(*given: Any, **how: Any) -> None:
        raise OSError(13, "Permission denied")

    ledger = Memory()
    with monkeypatch.context() as patch:
        patch.setattr(saving, "_take_place", stuck)
        with pytest.raises(InvalidArgument):
            publish(tmp_path / "out", ledger)
    assert kinds(ledger)[-2:] == ["rows-released", "release-withdrawn"]
    assert ledger.balance("people").releases == 0
    assert list(tmp_path.iterdir()) == []
    publish(tmp_path / "out", ledger)
    assert ledger.balance("people").releases == 1
    assert ledger.verify()


def test_what_has_its_name_is_not_withdrawn_whatever_fails_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody may have seen it: the mutant that withdraws on every failure lets a second leave."""
    real = saving._take_place

    def late(draft: Path, target: Path, *, replace: bool) -> None:
        real(draft, target, replace=replace)
        raise KeyboardInterrupt

    ledger = Memory()
    with monkeypatch.context() as patch:
        patch.setattr(saving, "_take_place", late)
        with pytest.raises(KeyboardInterrupt):
            publish(tmp_path / "out", ledger)
    assert (tmp_path / "out" / "table.parquet").exists()
    assert ledger.balance("people").releases == 1
    with pytest.raises(Conflict):
        publish(tmp_path / "two", ledger)


def test_a_refused_registration_leaves_nothing_on_the_disk(tmp_path: Path) -> None:
    ledger = Memory()
    publish(tmp_path / "out", ledger)
    release = importlib.import_module("tenue.microdata.release")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release, "check_first", lambda *given: None)
        patch.setattr(release, "check_rows", lambda *given: None)
        with pytest.raises(Conflict):
            publish(tmp_path / "two", ledger)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert "release-withdrawn" not in kinds(ledger)
