from __future__ import annotations

import importlib
import pkgutil

import pytest

import tenue as tn
from tenue.report import subject
from tenue.report.picture import Panel, Picture, Rule
from tenue.report.plot import SUBJECTS, picture_of, plot

PICTURE = Picture("by hand", [Panel([Rule(0)])])


class Drawable:
    def picture(self) -> Picture:
        return PICTURE


class Album:
    picture = "not to be called"


def test_an_object_is_asked_for_its_picture() -> None:
    assert picture_of(Drawable()) is PICTURE
    assert picture_of(PICTURE) is PICTURE
    assert plot(PICTURE, theme="dark").theme == "dark"


def test_what_has_no_picture_is_refused() -> None:
    for given in (3, None, "text", Album()):
        with pytest.raises(tn.Refused, match="There is no chart of a"):
            plot(given)


def test_every_subject_exists_and_every_file_has_one() -> None:
    files = {made.partition(":")[0] for made in SUBJECTS.values()}
    assert files == {module.name for module in pkgutil.iter_modules(subject.__path__)}
    for kind, made in SUBJECTS.items():
        module, _, name = kind.rpartition(".")
        assert isinstance(getattr(importlib.import_module(f"tenue.{module}"), name), type)
        file, _, function = made.partition(":")
        assert callable(getattr(importlib.import_module(f"tenue.report.subject.{file}"), function))
