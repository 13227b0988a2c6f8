"""Uniques and individual risk in a population, against integrals, enumeration and simulation."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidArgument
from tenue.evaluate.population import individual_risks, population_of
from unit.evaluate.stated import schema


def by_sum(size: int, p: float) -> float:
    """The mean of 1/F for the number of trials until `size` successes, summed."""
    found, mass, trials = 0.0, p**size, size
    while trials < size + 400 / p:
        found += mass / trials
        trials += 1
        mass *= (1 - p) * (trials - 1) / (trials - size)
    return found


def right(risks: Callable[[list[int], Fraction], dict[int, float]]) -> bool:
    fractions = [
        Fraction(1, 50),
        Fraction(1, 3),
        Fraction(1, 2),
        Fraction(51, 100),
        Fraction(9, 10),
    ]
    return all(
        math.isclose(risks([1, 2, 3, 7, 40], p)[size], by_sum(size, float(p)), rel_tol=1e-8)
        for p in fractions
        for size in (1, 2, 3, 7, 40)
    )


def test_individual_risk_is_the_mean_of_one_over_f() -> None:
    assert right(individual_risks)
    # the closed forms of the manual of mu-Argus
    p, q = 0.1, 0.9
    found = individual_risks([1, 2, 3], Fraction(1, 10))
    assert found[1] == pytest.approx(p / q * math.log(1 / p))
    assert found[2] == pytest.approx(p / q - (p / q) ** 2 * math.log(1 / p))
    assert individual_risks([1, 4], Fraction(1)) == {1: 1.0, 4: 0.25}


def test_a_wrong_risk_is_seen() -> None:
    def naive(sizes: list[int], p: Fraction) -> dict[int, float]:
        return {size: float(p) / size for size in sizes}  # 1 / E[F]

    def shifted(sizes: list[int], p: Fraction) -> dict[int, float]:
        found = individual_risks([size + 1 for size in sizes], p)
        return {size: found[size + 1] for size in sizes}

    assert not right(naive)
    assert not right(shifted)


def test_large_classes_have_a_stable_risk() -> None:
    for p in (Fraction(1, 1000), Fraction(1, 2), Fraction(501, 1000), Fraction(999, 1000)):
        risks = individual_risks(range(1, 20_000), p)
        values = np.array([risks[size] for size in range(1, 20_000)])
        assert (np.diff(values) < 0).all()
        assert values[-1] == pytest.approx(float(p) / 19_999, rel=1e-3)


def drawn(p: float, seed: int) -> tuple[Counter[int], int, float]:
    """A sample of a population whose classes have the sizes of the model's prior: the sizes in the
    sample, how many of its uniques are unique, and the sum of 1/F over those."""
    rng = random.Random(seed)
    sizes = list(range(1, 4000))
    found, uniques, links = Counter[int](), 0, 0.0
    for size in rng.choices(sizes, [1 / size for size in sizes], k=6000):
        here = sum(rng.random() < p for _ in range(size)) if size < 200 else round(size * p)
        if here:
            found[here] += 1
        if here == 1:
            uniques += size == 1
            links += 1 / size
    return found, uniques, links


def test_the_model_is_right_where_its_assumption_holds() -> None:
    p = Fraction(1, 5)
    classes, uniques, links = drawn(0.2, 3)
    estimate = population_of(classes, p)
    alone = classes[1]
    assert estimate.sample_uniques == alone
    noise = 5 * math.sqrt(alone * 0.2)
    assert abs(estimate.population_uniques - uniques) < noise
    assert abs(estimate.risk_of(1) * alone - links) < noise


def test_zayatz_is_bayes_rule_with_classes_as_in_the_sample() -> None:
    p, classes = Fraction(1, 4), {1: 6, 2: 3, 5: 1}
    alone = {f: Fraction(n, 10) * f * p * (1 - p) ** (f - 1) for f, n in classes.items()}
    expected = 6 * alone[1] / sum(alone.values())
    assert population_of(classes, p).population_uniques_zayatz == pytest.approx(float(expected))
    assert population_of({2: 5}, p).population_uniques_zayatz == 0


def test_a_population_is_its_own_sample() -> None:
    found = population_of({1: 2, 2: 3}, Fraction(1))
    assert (found.population_uniques, found.population_uniques_zayatz) == (2, 2)
    assert (found.reidentifications, found.mean_risk, found.largest_risk) == (5, 5 / 8, 1)


TABLE = pa.table({"age": [30, 30, 40, None, None, 50], "ill": list("abcabc")})


def test_check_states_them_for_a_stated_fraction() -> None:
    found = tn.evaluate.check(TABLE, None, ["age"], ["ill"], sampling_fraction="0.05")
    assert found.population is not None
    assert found.population == population_of({1: 2, 2: 2}, Fraction(1, 20))
    assert found.population.population_uniques == pytest.approx(0.1)
    text = " ".join(str(found).split())
    assert (
        "Sampling fraction 0.05, as stated; the rest is estimated by models, and no bound" in text
    )
    assert "2 sample uniques (33.3 % of the units)" in text
    assert json.loads(found.to_json())["population"]["sampling_fraction"] == "1/20"
    assert found.meets(risk=found.population.largest_risk)
    assert "largest individual risk" in found.unmet(risk=0.1)[0]
    bare = tn.evaluate.check(TABLE, None, ["age"], ["ill"])
    assert bare.population is None
    assert "population" not in bare.to_dict()


def test_individual_risk_is_that_of_each_rows_class() -> None:
    found = tn.evaluate.individual_risk(TABLE, "0.05", quasi_identifiers=["age"])
    risks = individual_risks([1, 2], Fraction(1, 20))
    assert found.tolist() == [risks[2], risks[2], risks[1], risks[2], risks[2], risks[1]]


def test_persons_are_counted_and_not_rows() -> None:
    table = pa.table({"age": [30, 30, 30, 40], "who": ["a", "a", "b", "c"]})
    found = tn.evaluate.check(table, None, ["age"], unit="who", sampling_fraction=1).population
    assert found == population_of({1: 1, 2: 1}, Fraction(1))
    risks = tn.evaluate.individual_risk(table, 1, quasi_identifiers=["age"], unit="who")
    assert risks.tolist() == [0.5, 0.5, 0.5, 1]


def test_persons_that_cannot_be_counted_are_refused() -> None:
    declared = schema({"age": {"type": "number", "bounds": [0, 99], "role": "quasi-identifier"},
                       "who": {"type": "identifier"}}, unit="who", rows_per_unit=4)  # fmt: skip
    table = pa.table({"age": [30, 30]})
    with pytest.raises(InvalidArgument, match="whose a row is"):
        tn.evaluate.check(table, declared, sampling_fraction=0.1)
    with pytest.raises(InvalidArgument, match="whose a row is"):
        tn.evaluate.individual_risk(table, 0.1, declared)


@pytest.mark.parametrize("fraction", [0, -1, 1.5, "much", float("nan")])
def test_a_fraction_that_is_none_is_refused(fraction: object) -> None:
    with pytest.raises(InvalidArgument, match="sampling_fraction"):
        tn.evaluate.check(TABLE, None, ["age"], sampling_fraction=fraction)


def test_counts_of_an_engine_give_the_same() -> None:
    import duckdb

    with duckdb.connect() as connection:
        relation = connection.from_arrow(TABLE)
        there = tn.evaluate.check(relation, None, ["age"], ["ill"], sampling_fraction=0.1)
    here = tn.evaluate.check(TABLE, None, ["age"], ["ill"], sampling_fraction=0.1)
    assert there.population == here.population
    assert there.confidential == here.confidential
