"""Rooms are as recorded."""

from __future__ import annotations

import pytest

from golden.kit import check, check_names
from golden.rooms import THEME


@pytest.mark.parametrize("name", sorted(THEME.cases))
def test_is_as_recorded(name: str) -> None:
    check(THEME, name)


def test_every_case_is_recorded() -> None:
    check_names(THEME)
