"""A ledger or its file; beside the schema's file if none is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenue.errors import InvalidArgument
from tenue.ledger import Memory, SQLite
from tenue.ledger.given import given_ledger, ledger_path


def test_a_ledger_is_itself_and_a_path_is_opened(tmp_path: Path) -> None:
    held = Memory()
    assert given_ledger(held, None) is held
    for given, beside in ((tmp_path / "a.ledger", None), (None, tmp_path / "a.toml")):
        with given_ledger(given, beside) as ledger:
            assert isinstance(ledger, SQLite)
        assert [path.name for path in tmp_path.iterdir() if path.suffix == ".ledger"]
    with pytest.raises(InvalidArgument, match="No ledger is given"):
        given_ledger(None, None)


def test_finding_makes_no_file(tmp_path: Path) -> None:
    beside = tmp_path / "a.toml"
    assert ledger_path(None, beside) == tmp_path / "a.ledger"
    assert ledger_path("b.ledger", beside) == Path("b.ledger")
    assert ledger_path(None, None) is None
    assert list(tmp_path.iterdir()) == []


def test_false_stands_for_none_only_where_none_will_do(tmp_path: Path) -> None:
    assert ledger_path(False, tmp_path / "a.toml", optional=True) is None
    with pytest.raises(InvalidArgument, match="`ledger` is of type bool"):
        ledger_path(False, None)
    with pytest.raises(InvalidArgument, match=r"`ledger` is True.*False for none"):
        ledger_path(True, None, optional=True)
    with pytest.raises(InvalidArgument, match="`ledger` is a int"):
        ledger_path(3, None, optional=True)
