"""Categories with masses, in no order or in one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import refuse
from .belief import Finite, plain, written_number
from .normalise import listed, paired, whole_weights


def _labels(given: list[object], name: str) -> list[str | int]:
    for label in given:
        if not isinstance(label, str | int):
            raise refuse("prior.category-wrong-type", name=name, type=type(label).__name__)
    if len(set(given)) < len(given):
        raise refuse("prior.category-twice")
    return given  # type: ignore[return-value]


class _Labelled(Finite):
    def canonical(self, value: object) -> str | int | None:
        bare = plain(value)
        return bare if isinstance(bare, str | int) else None


class Categorical(_Labelled):
    """A belief about a category without order.

    Guarantee
        The masses are exact and add up to exactly 1.

    Parameters
        masses: a mapping from category (text, boolean or whole number) to mass, or pairs. A float
            means the decimal it prints, so 0.7 and 0.3 add up.

    Example
        >>> Categorical({"flu": 0.7, "none": 0.3}).mass("flu")
        Fraction(7, 10)
    """

    def __init__(self, masses: Mapping[object, object] | Iterable[object]) -> None:
        pairs = paired(masses)
        labels = _labels([label for label, _ in pairs], "masses")
        self._keep(labels, *whole_weights([mass for _, mass in pairs]))

    def to_dict(self) -> dict[str, object]:
        pairs = sorted(self.masses.items(), key=lambda pair: (str(type(pair[0])), pair[0]))
        return {"prior": "categorical", "masses": [[v, written_number(m)] for v, m in pairs]}

    def __repr__(self) -> str:
        return f"Categorical({len(self.values)} categories)"


class Ordinal(_Labelled):
    """A belief about a category of an ordered list.

    Guarantee
        The masses are exact and add up to exactly 1. Categories of mass 0 keep their rank.

    Parameters
        order: the categories, lowest first.
        masses: one for each.

    Example
        >>> Ordinal(["mild", "severe", "critical"], [0.6, 0.3, 0.1]).rank("critical")
        2
    """

    order: tuple[str | int, ...]
    _ranks: dict[str | int, int]

    def __init__(self, order: Iterable[str | int], masses: Iterable[object]) -> None:
        labels = _labels(listed(order, "order"), "order")
        given = listed(masses, "masses")
        if len(given) != len(labels):
            raise refuse("prior.categories-differ-from-masses", many=len(labels), many2=len(given))
        self._set(order=tuple(labels), _ranks={label: n for n, label in enumerate(labels)})
        self._keep(labels, *whole_weights(given))

    def rank(self, label: object) -> int | None:
        """The rank of a category in the order, from 0; None if it is not in the order."""
        place = self.canonical(label)
        return None if place is None else self._ranks.get(place)

    def to_dict(self) -> dict[str, object]:
        masses = [written_number(self.mass(label)) for label in self.order]
        return {"prior": "ordinal", "order": list(self.order), "masses": masses}

    def __repr__(self) -> str:
        return f"Ordinal({len(self.order)} categories)"
