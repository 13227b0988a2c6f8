"""Names of a room that are loaded when they are first used.

A room offers names from many files, and whoever takes one of them should not wait for the others.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any


class Room(ModuleType):
    """A module whose promised names are loaded from their homes.

    Guarantee
        A promised name is what its home calls so, even where a file of the room has the same name:
        loading that file does not put the file in its place.
    """

    _homes: Mapping[str, str]

    def __getattr__(self, name: str) -> Any:
        home = self.__dict__["_homes"].get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = importlib.import_module(home, self.__name__)
        itself = home.rpartition(".")[2] == name and not hasattr(found, name)
        value = found if itself else getattr(found, name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        file = isinstance(value, ModuleType)  # the import system names files in their room
        if not (file and name in self.__dict__["_homes"]):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self.__dict__["_homes"]})


def lazily(room: str, homes: Mapping[str, str]) -> None:
    """Promises names in a room, to be called in its `__init__.py`.

    Parameters
        room: `__name__`.
        homes: the names that each file of the room offers: `{".law": "Law GridLaw"}`. A name equal
            to its file's, which the file does not have, is the file itself.
    """
    module = sys.modules[room]
    module.__dict__["_homes"] = {
        name: file for file, names in homes.items() for name in names.split()
    }
    module.__class__ = Room
