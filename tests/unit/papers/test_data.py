from __future__ import annotations

from pathlib import Path

import pytest

import tenue as tn
from tenue.papers.data import CENSUS, EIA, FOLDER, Columns, Data


def test_without_a_folder_everything_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER, raising=False)
    assert Data().lacking((CENSUS, EIA)) == (CENSUS, EIA)


def test_the_environment_names_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / CENSUS).write_text("a,b\n1,2\n3,4\n")
    monkeypatch.setenv(FOLDER, str(tmp_path))
    data = Data()
    assert data.lacking((CENSUS, EIA)) == (EIA,)
    assert data.census.names == ("a", "b")
    assert data.census.values.tolist() == [[1, 2], [3, 4]]
    assert data.census.only(["b"]).values.tolist() == [[2], [4]]


@pytest.mark.parametrize("text", ["", "a,b\n1,x\n", "a,b\n1\n"])
def test_another_table_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / CENSUS).write_text(text)
    with pytest.raises(tn.Refused, match=r"census\.csv is not the table"):
        _ = Data(tmp_path).census


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tn.Refused, match="is no folder"):
        Data(tmp_path / "nowhere")


def test_something_is_made_once(tmp_path: Path) -> None:
    data, made = Data(tmp_path), []
    for _ in range(2):
        data.kept("x", lambda: made.append(1))
    assert made == [1]


def test_columns_keep_their_names() -> None:
    import numpy as np

    table = Columns(("a",), np.array([[1.0]]))
    assert table.replaced(np.array([[2.0]])).arrow().to_pydict() == {"a": [2.0]}
