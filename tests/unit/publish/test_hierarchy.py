"""Columns that become less precise, and what must hold of a class."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import Unreachable
from tenue.evaluate.one_table.interval_values import Domain
from tenue.publish.generalise.hierarchy import MOST_LEVELS, Scale, recoded
from tenue.publish.generalise.mondrian import runs_of
from tenue.publish.generalise.privacy_condition import Need, Secret
from tenue.publish.generalise.split import NONE, Level, Offer, Tally
from unit.publish.columns import NUMBER, SPORT, TOWN, scale, sports

KINDS: list[tuple[dict[str, Any], int]] = [
    (NUMBER, 16),
    ({"type": "date", "bounds": ["2020-01-01", "2020-02-09"]}, 40),
    (TOWN, 4),
    ({"type": "boolean"}, 2),
    (SPORT, 5),
]


def ends(*pairs: tuple[int, int]) -> tuple[Any, Any]:
    low, high = zip(*pairs, strict=True)
    return np.array(low), np.array(high)


def test_texts() -> None:
    assert scale({"type": "number", "bounds": [-5, 5], "grid": 0.5}, [0]).texts(
        *ends((0, 20), (9, 10))
    ) == ["[-5, 5]", "[-0.5, 0]"]
    assert scale(TOWN, [0]).texts(*ends((0, 3), (1, 2), (3, 3))) == ["*", "{Genf, Chur}", "Thun"]
    assert scale({"type": "boolean"}, [0]).texts(*ends((0, 0), (0, 1))) == ["false", "*"]
    assert sports("ski").texts(*ends((0, 1), (1, 3), (4, 4))) == ["sail", "any", "sled"]


@pytest.mark.parametrize(("declared", "size"), KINDS)
def test_the_penalty_of_a_run_is_the_one_of_its_text(declared: dict[str, Any], size: int) -> None:
    """What the search minimises is what `tn.evaluate.ncp` reads from the published table."""
    made = scale(declared, [0])
    domain = Domain(made.cells.column)
    pairs = [(low, high) for low in range(size) for high in range(low, size)]
    penalties = made.penalty(*ends(*pairs)).tolist()
    for text, penalty in zip(made.texts(*ends(*pairs)), penalties, strict=True):
        assert domain.penalty(text) == type(domain.penalty(text))(penalty, made.whole)


@pytest.mark.parametrize(("declared", "size"), KINDS)
def test_levels_nest_from_the_value_to_everything(declared: dict[str, Any], size: int) -> None:
    made = scale(declared, [0])
    codes = np.arange(size)
    levels = made.levels(codes)
    assert (levels[0][0] == codes).all()
    assert (levels[0][1] == codes).all()
    assert (levels[-1][0] == 0).all()
    assert (levels[-1][1] == size - 1).all()
    for (low, high), (lower, higher) in itertools.pairwise(levels):
        assert ((lower <= low) & (high <= higher)).all()
        for code in codes:  # every code of a run has that run
            run = slice(low[code], high[code] + 1)
            assert set(low[run].tolist()) == {low[code]}


def test_levels_follow_from_the_schema_not_from_what_occurs() -> None:
    """Intervals that begin at the least value that occurs would tell it as if it were a bound."""
    made = scale(NUMBER, [0])
    every, some = made.levels(np.arange(16)), made.levels(np.array([3, 9]))
    for (low, high), (few_low, few_high) in zip(every, some, strict=True):
        assert few_low.tolist() == low[[3, 9]].tolist()
        assert few_high.tolist() == high[[3, 9]].tolist()
    shifted = np.array([3, 9]) - 3
    assert (shifted // 4 * 4 + 3).tolist() != some[2][0].tolist()  # the mutant is another one


def test_stated_widths() -> None:
    low, high = scale(NUMBER, [0]).levels(np.arange(16), [5])[1]
    assert sorted(set(zip(low.tolist(), high.tolist(), strict=True))) == [
        (0, 4),
        (5, 9),
        (10, 14),
        (15, 15),
    ]


@pytest.mark.parametrize("high", [1, 2, 73, 10**3, 10**6, 10**12])
def test_few_levels_whatever_the_domain(high: int) -> None:
    made = scale({"type": "number", "bounds": [0, high]}, [0])
    assert 2 <= len(made.levels(np.array([0, high]))) <= MOST_LEVELS + 1


def test_spellings_of_one_category_are_one() -> None:
    made = scale({"type": "category", "categories": ["flu", "cold", "Flu"]}, [0, 1, 2])
    assert made.codes.tolist() == [0, 1, 0]
    assert made.texts(*ends((0, 0), (1, 1), (0, 1))) == ["flu", "cold", "*"]


def test_centres_are_values_that_a_table_can_hold() -> None:
    assert scale(NUMBER, [0]).centres(*ends((2, 7))).numbers.tolist() == [4]
    flat = scale(TOWN, [0]).centres(*ends((0, 3), (1, 1)))
    assert [flat.labels[one] for one in flat.numbers] == ["any", "Genf"]
    tree = sports("ski").centres(*ends((0, 2)))
    assert [tree.labels[one] for one in tree.numbers] == ["water"]
    assert scale({"type": "boolean"}, [0]).centres(*ends((0, 1), (1, 1))).present.tolist() == [
        False,
        True,
    ]


def test_shares_of_a_huge_domain_do_not_overflow() -> None:
    made = scale({"type": "number", "bounds": [0, 2**61]}, [0])
    full, half = made.share(*ends((0, 2**61), (0, 2**60))).tolist()
    assert full == 2**30
    assert half == 2**29


# -- A recoded column is text, and its centres are values ------------------------------------------


def test_every_row_has_the_text_of_its_group() -> None:
    line, labels = scale(NUMBER, [3, 9, 5, 11]), np.array([0, 1, 0, 1])
    made = recoded(line, runs_of(line, labels), labels).to_arrow()
    assert made.type == pa.string()
    assert made.to_pylist() == ["[3, 5]", "[9, 11]", "[3, 5]", "[9, 11]"]
    middles = line.centres(*runs_of(line, labels)).take(labels)
    assert middles.to_arrow().to_pylist() == [4, 10, 4, 10]


def test_groups_with_equal_runs_share_a_text() -> None:
    line, labels = scale(NUMBER, [3, 3, 5, 3]), np.array([0, 1, 2, 0])
    made = recoded(line, runs_of(line, labels), labels)
    assert made.labels == ("[3, 3]", "[5, 5]")
    assert made.take(np.array([2, 1])).to_arrow().to_pylist() == ["[5, 5]", "[3, 3]"]


# -- What classes must have is what `check` measures of the same table -----------------------------


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    rng = random.Random(seed)
    size = rng.randint(8, 40)
    labels = np.array([i % 3 for i in range(size)])
    codes = np.array([rng.randint(-1, 3) for _ in range(size)])
    return labels, codes, np.array([rng.randint(0, size // 2) for _ in range(size)])


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("of_persons", [False, True])
def test_as_check_measures(seed: int, of_persons: bool) -> None:
    labels, codes, persons = drawn(seed)
    table = pa.table(
        {
            "group": labels,
            "secret": pa.array([None if c < 0 else int(c) for c in codes], pa.int64()),
            "who": [f"p{one}" for one in persons],
        }
    )
    unit = "who" if of_persons else "record"
    found = tn.evaluate.check(
        table, quasi_identifiers=["group"], confidential=["secret"], unit=unit
    )
    secret = [Secret("secret", np.unique(codes, return_inverse=True)[1] - (codes.min() < 0), True)]
    whose = persons if of_persons else None
    exact = found.confidential[0].exact_t
    assert Need(1, persons=whose).units(labels, 3).min() == found.k
    for l in (found.l, (found.l or 0) + 1):
        assert Need(1, l=l, confidential=secret, persons=whose).diverse(labels, 3).all() == (
            l == found.l
        )
    assert Need(1, t=exact, confidential=secret, persons=whose).close(labels, 3).all()
    if exact:
        nearer = Need(1, t=exact - Fraction(1, 10**20), confidential=secret, persons=whose)
        assert not nearer.close(labels, 3).all()


def test_an_l_that_the_table_lacks_is_refused() -> None:
    secret = [Secret("ill", np.array([0, 1, 1]), False)]
    Need(1, l=2, confidential=secret).check_reachable()
    with pytest.raises(Unreachable, match="`ill`"):
        Need(1, l=3, confidential=secret).check_reachable()
    with pytest.raises(Unreachable, match="may suffice"):
        Need(1, l=3, confidential=secret, persons=np.array([0, 1, 2])).check_reachable()


def test_the_need_of_some_rows() -> None:
    secret = [Secret("ill", np.array([0, 1, 1, 0]), False)]
    need = Need(1, l=2, confidential=secret, persons=np.array([0, 1, 2, 0])).of(np.array([1, 2]))
    assert not need.diverse(np.array([0, 0]), 1)[0]
    assert need.units(np.array([0, 0]), 1).tolist() == [2]
    assert need.looks_inside
    assert not Need(3).looks_inside


# Offers to split: every part has k units, the middle is near, the gain is what it says.


@dataclass
class Offered:
    """An offer to split these rows."""

    offer: Offer
    node: np.ndarray
    codes: np.ndarray

    @property
    def gain(self) -> np.ndarray:
        return self.offer.gain

    @property
    def parts(self) -> np.ndarray:
        return self.offer.parts

    def part(self, rows: np.ndarray) -> np.ndarray:
        return self.offer.rule.part(self.node[rows], self.codes[rows])


def offered(made: Scale, k: int, node: Any = None, persons: Any = None) -> Offered:
    values, ranks = np.unique(made.codes, return_inverse=True)
    groups = np.zeros(ranks.size, np.int64) if node is None else np.array(node)
    whose = None if persons is None else np.array(persons)
    level = Level(groups, int(groups.max()) + 1, whose)
    return Offered(made.offer(Tally.of(level, ranks, values), k), groups, made.codes)


def parts(offer: Offered, rows: int) -> list[int]:
    return offer.part(np.arange(rows)).tolist()


def test_the_middle_is_cut_between_values() -> None:
    assert parts(offered(scale(NUMBER, [1, 9, 1, 2, 2, 9, 2]), 2), 7) == [0, 1, 0, 1, 1, 1, 1]
    assert parts(offered(scale(NUMBER, [1, 9, 1, 1, 2, 9, 9]), 2), 7) == [0, 1, 0, 0, 1, 1, 1]
    assert offered(scale(NUMBER, [1, 2, 3, 4]), 2).part(np.arange(4)).tolist() == [0, 0, 1, 1]


def test_equal_cuts_take_the_lower() -> None:
    assert parts(offered(scale(NUMBER, [1, 1, 5, 9, 9]), 2), 5) == [0, 0, 1, 1, 1]


def test_a_group_of_equal_values_or_of_too_few_cannot_be_split() -> None:
    assert offered(scale(NUMBER, [3, 3, 3, 3]), 2).gain.tolist() == [NONE]
    assert offered(scale(NUMBER, [1, 2, 3]), 2).gain.tolist() == [NONE]


def test_the_gain_is_the_shrinking_of_shares() -> None:
    made = scale(NUMBER, [0, 1, 14, 15])
    before = 4 * made.share(np.array([0]), np.array([15]))
    after = 4 * made.share(np.array([0]), np.array([1]))
    assert offered(made, 2).gain.tolist() == (before - after).tolist()


def test_groups_do_not_see_each_other() -> None:
    made = scale(NUMBER, [1, 2, 3, 4, 7, 7, 7, 7])
    offer = offered(made, 2, [0, 0, 0, 0, 1, 1, 1, 1])
    assert (offer.gain >= 0).tolist() == [True, False]
    assert offer.parts.tolist() == [2, 1]


def test_persons_count_once_on_each_side() -> None:
    """Counting rows, the obvious way, would cut six rows of two persons in the middle."""
    ages, persons = [1, 1, 1, 9, 9, 9], [0, 0, 1, 1, 1, 0]
    assert offered(scale(NUMBER, ages), 3, persons=persons).gain.tolist() == [NONE]
    assert offered(scale(NUMBER, ages), 3).gain.tolist() != [NONE]
    assert offered(scale(NUMBER, ages), 2, persons=persons).gain.tolist() != [NONE]


def test_categories_part_along_their_taxonomy() -> None:
    offer = offered(sports("dinghy", "yacht", "surf", "ski", "sled", "ski"), 3)
    assert parts(offer, 6) == [0, 0, 0, 1, 1, 1]
    inside = offered(sports("dinghy", "dinghy", "yacht", "surf", "surf", "surf"), 3)
    assert parts(inside, 6) == [0, 0, 0, 1, 1, 1]


def test_small_concepts_stay_together_and_the_smallest_of_the_others_joins_if_it_must() -> None:
    tree = {"any": ["a", "b", "c", "d"]}
    declared = {"type": "category", "taxonomy": tree}
    pooled = offered(scale(declared, [0, 0, 0, 1, 1, 2, 3]), 3)
    assert len(set(parts(pooled, 7)[:3])) == 1
    assert len(set(parts(pooled, 7)[3:])) == 1
    assert pooled.parts.tolist() == [2]
    joined = offered(scale(declared, [0] * 5 + [1] * 3 + [2]), 3)
    found = parts(joined, 9)
    assert found[5:] == [found[5]] * 4  # the three of b take c in, not the five of a
    assert found[0] != found[5]
    assert offered(scale(declared, [0] * 5 + [2]), 3).gain.tolist() == [NONE]


@pytest.mark.parametrize("seed", range(40))
def test_every_part_has_k_units(seed: int) -> None:
    rng = random.Random(seed)
    size, k = rng.randint(6, 60), rng.randint(2, 4)
    names = ["dinghy", "yacht", "surf", "ski", "sled"]
    made = (
        scale(NUMBER, [rng.randint(0, 15) for _ in range(size)])
        if seed % 2
        else sports(*rng.choices(names, [5, 3, 2, 1, 1], k=size))
    )
    node = [i % 3 for i in range(size)]
    persons = [rng.randint(0, size // 2) for _ in range(size)] if seed % 4 < 2 else None
    offer = offered(made, k, node, persons)
    for group in range(3):
        rows = np.array([i for i in range(size) if node[i] == group])
        if offer.gain[group] == NONE:
            continue
        found = offer.part(rows).tolist()
        assert set(found) == set(range(offer.parts[group]))
        for part in set(found):
            members = [int(row) for row, own in zip(rows, found, strict=True) if own == part]
            units = members if persons is None else [persons[row] for row in members]
            assert len(set(units)) >= k
