"""Local and smooth sensitivities by trying every table: slow, obvious, and used by tests only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

Table = tuple[int, ...]
Statistic = Callable[[Sequence[Fraction | int]], Fraction]

DOMAIN = range(5)
BOUNDS = (0, 4)
PRECISE = Context(prec=60)


def tables(rows: int, domain: Iterable[int] = DOMAIN) -> Iterator[Table]:
    """Every multiset of the domain with so many rows."""
    return combinations_with_replacement(domain, rows)


def small_tables(domain: Iterable[int] = DOMAIN) -> Iterator[Table]:
    for rows in range(1, 6):
        yield from tables(rows, domain)


def neighbours(table: Sequence, replacements: Iterable) -> Iterator[tuple]:
    places = [i for i, value in enumerate(table) if value not in table[:i]]
    for value in replacements:
        for i in places:
            yield (*table[:i], value, *table[i + 1 :])


def local_by_trying(statistic: Statistic, table: Sequence, replacements: Iterable) -> Fraction:
    here = statistic(table)
    return max(abs(statistic(other) - here) for other in neighbours(table, replacements))


def distance(one: Table, other: Table) -> int:
    """How many records must be replaced to turn one table into the other."""
    return len(one) - (Counter(one) & Counter(other)).total()


def widest_by_trying(
    statistic: Statistic, table: Table, domain: Iterable[int] = DOMAIN
) -> list[Fraction]:
    """A_0, A_1, ..., A_n: the largest local sensitivity at distance j or less."""
    domain = tuple(domain)
    widest = [Fraction(0)] * (len(table) + 1)
    for other in tables(len(table), domain):
        for j in range(distance(table, other), len(table) + 1):
            widest[j] = max(widest[j], _local(statistic, other, domain))
    return widest


@cache
def _local(statistic: Statistic, table: Table, domain: tuple[int, ...]) -> Fraction:
    return local_by_trying(statistic, table, domain)


def smooth_of(widest: Sequence[Fraction], beta: Fraction) -> Decimal:
    """The largest A_j · exp(-j·beta), to 50 digits and more."""
    return max(discounted(size, j, beta) for j, size in enumerate(widest))


def discounted(size: Fraction, j: int, beta: Fraction) -> Decimal:
    decay = j * beta
    exponent = PRECISE.divide(Decimal(-decay.numerator), Decimal(decay.denominator))
    product = PRECISE.multiply(PRECISE.exp(exponent), Decimal(size.numerator))
    return PRECISE.divide(product, Decimal(size.denominator))


@cache
def kth_smallest(k: int) -> Statistic:
    return lambda table: Fraction(sorted(table)[k - 1])


def median(table: Sequence) -> Fraction:
    ordered, half = sorted(table), len(table) // 2
    if len(table) % 2:
        return Fraction(ordered[half])
    return Fraction(ordered[half - 1] + ordered[half]) / 2


def maximum(table: Sequence) -> Fraction:
    return Fraction(max(table))


def second_largest(table: Sequence) -> Fraction:
    return Fraction(sorted(table)[-2])


def mean(table: Sequence) -> Fraction:
    return Fraction(sum(table)) / len(table)


def variance(table: Sequence) -> Fraction:
    centre = mean(table)
    return sum(((x - centre) ** 2 for x in table), Fraction(0)) / len(table)
