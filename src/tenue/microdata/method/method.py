"""How a table is to be published: what was asked for, checked against the schema."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ...errors import Refused, nearest, refuse
from ...number import above_zero, exact, whole
from ...schema import Boolean, Category, Column, Number, Schema
from ...schema.literal import key

WAYS = {
    "microaggregate": ("mdav", "v-mdav"),
    "swap": ("quasi-identifiers", "each-confidential", "other-attributes"),
}
"""The methods, and by what each forms its groups; the first is taken if none is named."""

OVERRIDES = ("second-release", "homogeneous-groups")
"""What a holder may insist on; each is recorded in the certificate."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way of publishing that suits the schema.

    k: how many units each group has at least; for a swap, by column.
    l, t: what else must hold of each group.
    gamma: the gain factor of V-MDAV.
    unprotected: the columns of role other, which leave as they are.
    """

    name: str
    by: str
    k: Mapping[str, int]
    quasi: tuple[str, ...]
    confidential: tuple[str, ...]
    sensitive: tuple[str, ...]
    unprotected: tuple[str, ...]
    l: int | None
    t: Fraction | None
    gamma: Fraction | None
    override: frozenset[str]

    @property
    def least(self) -> int:
        """The smallest k of all."""
        return min(self.k.values())

    @property
    def compared(self) -> tuple[str, ...]:
        """The columns whose values the method reads or moves; none of them may be missing."""
        if self.name == "microaggregate":
            return self.quasi
        if self.by == "each-confidential":
            return self.confidential
        return self.quasi + self.confidential


def chosen_method(
    schema: Schema,
    method: object,
    k: object,
    by: object,
    l: object,
    t: object,
    gamma: object,
    override: object,
) -> Method:
    """The method that was asked for; refused if it is none, or does not suit the schema."""
    name = _one_of(method, "method", tuple(WAYS))
    _check_roles(schema)
    way = WAYS[name][0] if by is None else _one_of(by, "by", WAYS[name])
    quasi = _published(schema, schema.quasi_identifiers)
    confidential = _published(schema, schema.confidential)
    if not confidential and name == "swap":
        raise _no_role(schema, "confidential", "A swap moves confidential values between people")
    if not quasi and way in ("mdav", "v-mdav", "quasi-identifiers"):
        raise _no_role(schema, "quasi-identifier", "Groups are formed by quasi-identifiers")
    if way == "other-attributes" and len(quasi + confidential) < 2:
        raise _no_role(schema, "quasi-identifier", "Groups are formed by the other columns")
    if gamma is not None and way != "v-mdav":
        raise refuse("microdata.gamma-is-given")
    grows = way in ("mdav", "v-mdav", "quasi-identifiers")
    if not grows and (l is not None or t is not None):
        raise refuse("microdata.is-given-with-by", word="l" if l is not None else "t", way=way)
    if (l is not None or t is not None) and not confidential:
        raise _no_role(schema, "confidential", "l and t speak of confidential columns")
    overrides, sizes = _overrides(override), _sizes(k, name, way, confidential)
    if way == "each-confidential" and "homogeneous-groups" not in overrides:
        _check_ordered(schema, confidential)
    return Method(
        name=name,
        by=way,
        k=sizes,
        quasi=quasi,
        confidential=confidential,
        sensitive=tuple(name for name in confidential if schema.columns[name].sensitive),
        unprotected=_unprotected(schema),
        l=None if l is None else whole(l, "l", least=2),
        t=None if t is None else _distance(t),
        gamma=None if gamma is None else above_zero(gamma, "gamma"),
        override=overrides,
    )


def _check_roles(schema: Schema) -> None:
    lacking = schema.without_role
    if lacking:
        raise refuse(
            "microdata.no-role-is-stated-for",
            columns=lacking,
            names=", ".join(f"`{name}`" for name in lacking),
            key=key(lacking[0]),
            word=" and in the others" if lacking[1:] else "",
        )


def _one_of(given: object, name: str, known: tuple[str, ...]) -> str:
    if isinstance(given, str) and given in known:
        return given
    listed = ", ".join(f'"{word}"' for word in known)
    raise refuse(
        "microdata.is-one-of",
        name=name,
        given=given,
        listed=listed,
        nearest=nearest(str(given), known),
    )


def _check_ordered(schema: Schema, confidential: tuple[str, ...]) -> None:
    """Groups of similar values of a column without order hold one value each, and hide nothing."""
    flat = [name for name in confidential if _without_order(schema.columns[name])]
    if flat:
        names = ", ".join(f"`{name}`" for name in flat)
        raise refuse(
            "microdata.values-of-have-no-order-and-groups", columns=tuple(flat), names=names
        )


def _without_order(column: Column) -> bool:
    flat = isinstance(column, Category) and isinstance(column.stated, tuple)
    return flat or isinstance(column, Boolean)


def _published(schema: Schema, columns: tuple[Column, ...]) -> tuple[str, ...]:
    """The names of these columns, but for one that names a person: that never leaves."""
    for column in columns:
        if isinstance(column, Number) and column.expression is not None:
            raise refuse(
                "microdata.is-derived-from-other-columns-and-has",
                column=column.name,
                role=column.role,
            )
    unit = schema.unit.lower()
    return tuple(column.name for column in columns if column.name.lower() != unit)


def _unprotected(schema: Schema) -> tuple[str, ...]:
    unit = schema.unit.lower()
    return tuple(
        column.name
        for column in schema.columns.values()
        if column.role == "other"
        and column.name.lower() != unit
        and not (isinstance(column, Number) and column.expression is not None)
    )


def _no_role(schema: Schema, role: str, why: str) -> Refused:
    return refuse("microdata.has-no-columns", name=schema.name, role=role, why=why)


def _sizes(k: object, name: str, way: str, confidential: tuple[str, ...]) -> Mapping[str, int]:
    each = name == "swap" and way != "quasi-identifiers"
    if not isinstance(k, Mapping):
        size = whole(k, "k", least=2)
        return dict.fromkeys(confidential, size) if each else {"": size}
    if not each:
        raise refuse("microdata.k-is-given-for-single-columns")
    known = {column.lower(): column for column in confidential}
    given = {str(column).lower(): size for column, size in k.items()}
    if len(given) < len(k):
        raise refuse("microdata.k-names-column-twice-in-upper-and")
    for column in given:
        if column not in known:
            raise refuse("microdata.k-names", column=column, nearest=nearest(column, known))
    for column in known:
        if column not in given:
            raise refuse("microdata.k-does-not-say-size-of-groups", known=known[column])
    return {known[column]: whole(size, f"k[{column}]", least=2) for column, size in given.items()}


def _distance(t: object) -> Fraction:
    value = exact(t, "t")
    if not 0 <= value <= 1:
        raise refuse("microdata.t-is-t-is-earth-mover-s", t=t)
    return value


def _overrides(given: object) -> frozenset[str]:
    words = [given] if isinstance(given, str) else given
    if not isinstance(words, Collection):
        words = [words]
    return frozenset(_one_of(word, "override", OVERRIDES) for word in words)
