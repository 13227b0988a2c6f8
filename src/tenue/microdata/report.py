"""The report of a release: which facts go into it, and which of them are for the holder alone.

What it draws is counted while the rows are there, so that a release keeps no row of the original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..evaluate.pair.marginal import Marginal, marginals
from ..promise import Certificate
from ..report.document import Document, Section
from ..report.figure import marginal_panel
from ..report.picture import Picture
from ..report.release import ReleaseFacts, release_document
from ..screen.number import many
from .assessment import Step
from .method.contract import Made, Method

if TYPE_CHECKING:
    from ..evaluate import Likeness, Risk, Utility

_MOST_DRAWN = 9


@dataclass(frozen=True, eq=False)
class Shown:
    """What a report draws of a release.

    released: how its columns are distributed, from the release alone.
    compared: the same beside the original, for the holder; empty where the method's report leaves
        that out.
    sizes: how many groups have how many units, by column where each has its own.
    counted: how many rows of the release were counted.
    """

    released: tuple[Marginal, ...] = ()
    compared: tuple[Marginal, ...] = ()
    sizes: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    counted: int | None = None

    @classmethod
    def of(cls, method: Method, made: Made) -> Shown:
        """Counted from the rows, while they are there."""
        before = made.before if method.report_compares else None
        compared = () if before is None else marginals(before, made.sample, method.schema)
        released = marginals(None, made.sample, method.schema)
        return cls(released, compared, made.sizes, made.sample.num_rows)

    def picture(self, title: str) -> Picture:
        """The columns, the original behind the release."""
        columns = self.compared or self.released
        told = "grey: the original, blue: the release; for the holder alone"
        drawn = [marginal_panel(one, titled=True) for one in columns[:_MOST_DRAWN]]
        return Picture(title, drawn, told if self.compared else "the released table", across=3)


def report_of(
    method: Method,
    certificate: Certificate,
    shown: Shown,
    *,
    rows: int,
    columns: int,
    risk: Risk | None,
    utility: Utility | Likeness,
    history: Sequence[Step],
    warnings: Sequence[str],
    more: Sequence[Section] = (),
) -> Document:
    """All there is to say of a release. A method whose report compares nothing says only what may
    leave: its comparison has a file of its own."""
    own = method.report_compares
    check = None if risk is None else risk.check
    promised = certificate.promise.parameters().get("k")
    facts = ReleaseFacts(
        title=f"A protected copy of {method.schema.name}",
        rows=rows,
        columns=columns,
        certificate=certificate,
        released=shown.released,
        compared=shown.compared,
        risk=risk,
        utility=utility if own else None,
        correlation=utility.correlation,
        instead_of_k=None if check is None else method.instead_of_k(check),
        k=None if promised is None else int(promised),
        sizes=shown.sizes,
        counted=shown.counted,
        remarks=method.remarks(),
        warnings=warnings if own else (),
        history=[str(step) for step in history] if own else (),
        more=more,
    )
    return release_document(facts)


def title_of(rows: int, method: Method) -> str:
    """What a chart of a release is called."""
    return f"{method.schema.name}: {many(rows, 'row')} after {method.label}"
