"""Tenue: the least noise that keeps the promise.

The rooms are loaded when first used.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .version import VERSION as __version__

if TYPE_CHECKING:
    from . import (
        errors,
        estimate,
        evaluate,
        ledger,
        mechanism,
        microdata,
        noise,
        papers,
        prior,
        promise,
        query,
        report,
        schema,
        sensitivity,
        taxonomy,
    )
    from .ask import workload
    from .ask.dataset import open_dataset, protect
    from .errors import Fault, Refused
    from .evaluate.compare import compare
    from .privacy import (
        Approximate,
        Certificate,
        ColumnKAnonymity,
        Individual,
        KAnonymity,
        ProbabilisticKAnonymity,
        Pure,
        TCloseness,
    )
    from .publish.publish import publish
    from .publish.sweep import sweep
    from .publish.synthetic.plan import plan_release
    from .schema import Schema
    from .taxonomy import Taxonomy

_HOME = {
    "Approximate": "promise",
    "Certificate": "promise",
    "ColumnKAnonymity": "promise",
    "Fault": "errors",
    "Individual": "promise",
    "KAnonymity": "promise",
    "ProbabilisticKAnonymity": "promise",
    "Pure": "promise",
    "Refused": "errors",
    "Schema": "schema",
    "TCloseness": "promise",
    "Taxonomy": "taxonomy",
    "compare": "evaluate.compare",
    "open_dataset": "ask.dataset",
    "plan_release": "publish.synthetic.plan",
    "protect": "ask.dataset",
    "publish": "publish.publish",
    "sweep": "publish.sweep",
    "workload": "query",
}

__all__ = [
    "Approximate",
    "Certificate",
    "ColumnKAnonymity",
    "Fault",
    "Individual",
    "KAnonymity",
    "ProbabilisticKAnonymity",
    "Pure",
    "Refused",
    "Schema",
    "TCloseness",
    "Taxonomy",
    "__version__",
    "compare",
    "errors",
    "estimate",
    "evaluate",
    "ledger",
    "mechanism",
    "microdata",
    "noise",
    "open_dataset",
    "papers",
    "plan_release",
    "prior",
    "promise",
    "protect",
    "publish",
    "query",
    "report",
    "schema",
    "sensitivity",
    "sweep",
    "taxonomy",
    "workload",
]

_ROOMS = [name for name in __all__ if name not in _HOME and name != "__version__"]


class _Names(ModuleType):
    """`tn.publish` stays the function when the room `tenue.publish` is loaded."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in _HOME):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Names


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    if name in _ROOMS:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
