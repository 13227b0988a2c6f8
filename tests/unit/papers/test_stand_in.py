from __future__ import annotations

from pathlib import Path

from tenue.papers.data import FILES, Data
from tenue.papers.stand_in import write_stand_in
from tenue.taxonomy import Taxonomy


def test_it_has_the_shape_of_the_papers_tables(tmp_path: Path) -> None:
    write_stand_in(tmp_path)
    data = Data(tmp_path)
    assert data.lacking(FILES) == ()
    assert data.census.values.shape == (1080, 13)
    assert data.eia.values.shape == (4092, 11)
    jobs, places = data.adult
    for values, file in ((jobs, FILES[3]), (places, FILES[4])):
        assert set(values) <= set(Taxonomy.load(tmp_path / file).categories)
        assert len(set(values)) > 10
    assert {"FEDTAX", "POTHVAL", "INTVAL", "FICA"} <= set(data.census.names)


def test_it_is_the_same_every_time(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        write_stand_in(tmp_path / name)
    for file in FILES:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
