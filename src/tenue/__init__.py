"""Tenue: the least noise that keeps the promise.

The rooms are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lazy import lazily
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
        NoFormalPromise,
        ProbabilisticKAnonymity,
        Pure,
        TCloseness,
    )
    from .publish.publish import publish
    from .publish.sweep import sweep
    from .publish.synthetic.plan import plan_release
    from .schema import Schema
    from .taxonomy import Taxonomy

__all__ = [
    "Approximate",
    "Certificate",
    "ColumnKAnonymity",
    "Fault",
    "Individual",
    "KAnonymity",
    "NoFormalPromise",
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

lazily(
    __name__,
    {
        ".ask": "workload",
        ".ask.dataset": "open_dataset protect",
        ".errors": "Fault Refused errors",
        ".estimate": "estimate",
        ".evaluate": "evaluate",
        ".evaluate.compare": "compare",
        ".ledger": "ledger",
        ".mechanism": "mechanism",
        ".microdata": "microdata",
        ".noise": "noise",
        ".papers": "papers",
        ".prior": "prior",
        ".privacy": "Approximate Certificate ColumnKAnonymity Individual KAnonymity "
        "NoFormalPromise ProbabilisticKAnonymity Pure TCloseness",
        ".promise": "promise",
        ".publish.publish": "publish",
        ".publish.sweep": "sweep",
        ".publish.synthetic.plan": "plan_release",
        ".query": "query",
        ".report": "report",
        ".schema": "Schema schema",
        ".sensitivity": "sensitivity",
        ".taxonomy": "Taxonomy taxonomy",
    },
)
