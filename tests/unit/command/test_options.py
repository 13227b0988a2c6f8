"""Options of `ask` and `explain` in the words of the command line."""

from __future__ import annotations

import pytest

from tenue.command.options import accuracy_of, minimise_of
from tenue.errors import InvalidArgument


def test_words_become_criteria() -> None:
    assert minimise_of("variance") == "variance"
    assert minimise_of("interval:0.9") == ("interval", "0.9")
    assert accuracy_of(None) is None
    assert accuracy_of("0.95:10") == ("interval", "0.95", "10")
    with pytest.raises(InvalidArgument):
        accuracy_of("10")
