from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import tenue as tn
from tenue.report.write import SUBJECTS, page_of, write


class Own:
    def page(self, *, public: bool) -> str:
        return f"public {public}"


def test_an_object_is_asked_for_its_page(tmp_path: Path) -> None:
    write(Own(), tmp_path / "a.html", public=True)
    assert (tmp_path / "a.html").read_text() == "public True"
    found = tn.compare([[1], [2]], [[2], [2]])
    assert "for the holder" in page_of(found)
    assert "for the holder" not in page_of(found, public=True)


def test_what_has_no_report_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tn.Refused, match="There is no report of a int"):
        write(3, tmp_path / "a.html")
    with pytest.raises(tn.Refused, match="does not end in"):
        write(Own(), tmp_path / "a.pdf")
    with pytest.raises(tn.Refused, match="cannot be written"):
        write(Own(), tmp_path / "no" / "a.html")


def test_every_subject_exists() -> None:
    for kind, made in SUBJECTS.items():
        module, _, name = kind.rpartition(".")
        assert isinstance(getattr(importlib.import_module(f"tenue.{module}"), name), type)
        file, _, function = made.partition(":")
        assert callable(getattr(importlib.import_module(f"tenue.report.subject.{file}"), function))
