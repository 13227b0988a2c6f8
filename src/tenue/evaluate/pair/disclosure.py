"""What leaves unchanged, and undoes what was done to other columns.

A total that leaves as it is tells a part that was masked, if the other parts leave too. And a total
of quasi-identifiers is known to whoever knows these: he finds the row by it, whatever k is.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from ..code import Codes
from ..group.dependence import Determined, Seen, determined
from .attributes import Attribute, Numeric


class Disclosure(NamedTuple):
    """What follows from what.

    determined: columns that were changed, as they were, from columns that leave unchanged.
    recomputed: columns that leave unchanged, from quasi-identifiers as they were, where those were
        changed.
    """

    determined: tuple[Determined, ...]
    recomputed: tuple[Determined, ...]


def disclosure(attributes: list[Attribute], known: Collection[str]) -> Disclosure:
    """What follows from unchanged columns, and which of those follow from quasi-identifiers.

    Parameters
        attributes: all columns of both tables, of whatever role.
        known: the names of the quasi-identifiers.
    """
    before = {attribute.name: _seen(attribute) for attribute in attributes}
    changed = [attribute.name for attribute in attributes if _changed(attribute)]
    kept = [name for name in before if name not in changed]
    told = determined([before[name] for name in changed], [before[name] for name in kept])
    hidden = [before[name] for name in before if name in known]
    if not set(known).intersection(changed):
        return Disclosure(tuple(told), ())
    shown = [before[name] for name in kept if name not in known]
    return Disclosure(tuple(told), tuple(determined(shown, hidden)))


def _changed(attribute: Attribute) -> bool:
    one, other = attribute.original, attribute.masked
    return not np.array_equal(one, other, equal_nan=isinstance(attribute, Numeric))


def _seen(attribute: Attribute) -> Seen:
    if not isinstance(attribute, Numeric):
        return Seen(attribute.name, Codes(attribute.original, attribute.count))
    values, codes = np.unique(attribute.original, return_inverse=True)
    codes = codes.astype(np.int64).reshape(-1)
    present = int(np.isnan(values).argmax()) if np.isnan(values).any() else values.size
    codes[codes >= present] = -1
    return Seen(attribute.name, Codes(codes, present), attribute.original)
