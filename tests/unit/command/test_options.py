"""Options of `ask` and `explain` in the words of the command line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tenue.command.options import accuracy_of, minimise_of, opened
from tenue.errors import InvalidArgument, Refused


def test_words_become_criteria() -> None:
    assert minimise_of("variance") == "variance"
    assert minimise_of("interval:0.9") == ("interval", "0.9")
    assert accuracy_of(None) is None
    assert accuracy_of("0.95:10") == ("interval", "0.95", "10")
    with pytest.raises(InvalidArgument):
        accuracy_of("10")


@pytest.mark.parametrize(("given", "used"), [(None, "1"), ("4", "4")])
def test_numpy_starts_no_threads_unless_somebody_wants_them(
    given: str | None, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", given or "")
    if given is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    with pytest.raises(Refused):
        opened(Path("nothing.toml"), None, None, None)
    assert os.environ["OPENBLAS_NUM_THREADS"] == used
