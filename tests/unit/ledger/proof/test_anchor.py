from __future__ import annotations

from pathlib import Path

import pytest

from tenue.errors import LedgerFault
from tenue.ledger.proof.anchor import Anchor

LINK = bytes(range(32))


def test_an_anchor_is_kept_in_one_small_file(tmp_path: Path) -> None:
    path = tmp_path / "a.anchor"
    assert Anchor.read_if_there(path) is None
    anchor = Anchor.now(7, LINK)
    anchor.write(path)
    assert Anchor.read(path) == anchor == Anchor.read_if_there(path)
    assert [each.name for each in tmp_path.iterdir()] == ["a.anchor"]
    assert path.stat().st_mode & 0o077 == 0


def test_what_goes_on_from_an_anchor() -> None:
    anchor = Anchor(7, LINK.hex(), "now")
    assert anchor.missed_by(7, LINK) == anchor.missed_by(8, LINK) == ""
    assert anchor.missed_by(6, None)
    assert anchor.missed_by(6, LINK)
    assert anchor.missed_by(8, bytes(32))
    assert anchor.missed_by(8, None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "7",
        f'{{"entries": -1, "head": "{LINK.hex()}", "time": ""}}',
        f'{{"entries": true, "head": "{LINK.hex()}", "time": ""}}',
        '{"entries": 1, "head": "abcd", "time": ""}',
        '{"entries": 1, "head": 5, "time": ""}',
    ],
)
def test_what_is_no_anchor_is_a_fault(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.anchor"
    path.write_text(text)
    with pytest.raises(LedgerFault):
        Anchor.read_if_there(path)


def test_a_missing_or_unwritable_anchor_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(LedgerFault):
        Anchor.read(tmp_path / "none")
    with pytest.raises(LedgerFault):
        Anchor.now(1, LINK).write(tmp_path / "no" / "such" / "folder")
