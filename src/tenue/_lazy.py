"""Names of a room that are loaded when they are first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any


class Room(ModuleType):
    """A module whose public names are loaded from their homes.

    Guarantee
        A public name means what its home defines under it, even where a file of the room has the
        same name: loading that file does not put the file in its place.
    """

    _homes: Mapping[str, str]

    def __getattr__(self, name: str) -> Any:
        home = self.__dict__["_homes"].get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        file = importlib.import_module(home, self.__name__)
        if home.rpartition(".")[2] != name:
            value = getattr(file, name)
        else:  # a module found there is a file of the room that the file itself is
            value = getattr(file, name, file)
            value = file if isinstance(value, ModuleType) else value
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        file = isinstance(value, ModuleType)  # the import system names files in their room
        if not (file and name in self.__dict__["_homes"]):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted(self.__dict__.get("__all__", self.__dict__["_homes"]))


def lazily(room: str, homes: Mapping[str, str]) -> None:
    """Declares the names of a room, to be called in its `__init__.py`.

    Parameters
        room: `__name__`.
        homes: the names that each file of the room defines: `{".law": "Law GridLaw"}`. A name equal
            to its file's, which the file does not define, is the file itself.
    """
    module = sys.modules[room]
    module.__dict__["_homes"] = {
        name: file for file, names in homes.items() for name in names.split()
    }
    module.__class__ = Room
