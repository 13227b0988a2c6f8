from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from tenue.engine.doctor import diagnose
from tenue.engine.postgres import backend
from tenue.schema import Schema


def test_nothing_is_looked_at_behind_what_is_missing(tmp_path: Path) -> None:
    (found,) = diagnose(tmp_path / "nothing.csv")
    assert (found.subject, found.verdict) == ("source", "missing")


def test_a_missing_driver_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(backend, "version", none)
    first, second = diagnose("postgresql://127.0.0.1:1/x#t")
    assert first.verdict == "fine"
    assert (second.subject, second.verdict) == ("driver", "missing")
    assert "tenue[postgres]" in second.fix


def test_with_a_schema_no_row_is_read(tmp_path: Path) -> None:
    """A file that is broken far behind its header is as well as any, until it is opened."""
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 400_000 + "1,2,3,4\n")
    stated = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {"a": {"type": "number", "bounds": [0, 9]}},
    }
    found = diagnose(tmp_path / "t.csv", Schema.from_dict(stated))
    assert {finding.verdict for finding in found} == {"fine"}
