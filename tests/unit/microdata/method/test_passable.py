"""Which methods hold a table, and which read it in passes: by public facts alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tenue as tn
from tenue.microdata.method import passable
from tenue.microdata.method.catalogue import chosen_method
from tenue.microdata.table.original import open_original
from unit.microdata.method.stored import MEMORY, people, schema, stored

SWAP: dict[str, Any] = {"k": 5, "by": "each-confidential"}


def test_a_table_is_read_in_passes_if_its_values_need_more_than_is_stated(tmp_path: Path) -> None:
    declared = tn.Schema.from_dict(schema())
    stated = chosen_method(declared, "swap", memory=MEMORY, **SWAP)
    silent = chosen_method(declared, "swap", **SWAP)
    values = 300 * 6
    with open_original(stored(tmp_path, people()), declared) as table:
        for bytes_, expected in ((MEMORY // values, False), (MEMORY // values + 1, True)):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(passable, "VALUE", bytes_)
                assert stated.in_passes(table) is expected
                assert not silent.in_passes(table)  # on this machine only if it is asked for
    with open_original(people(), declared) as held, pytest.MonkeyPatch.context() as patch:
        patch.setattr(passable, "VALUE", 1 << 40)
        assert not stated.in_passes(held)


def test_little_memory_is_refused() -> None:
    with pytest.raises(tn.Refused, match="memory"):
        chosen_method(tn.Schema.from_dict(schema()), "swap", memory=MEMORY - 1, **SWAP)
