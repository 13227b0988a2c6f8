"""What is refused, in all rooms: class, code and the three sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

import tenue as tn
from golden.kit import Case, Theme, folder, masked_in, outcome
from golden.plans import session
from golden.releases import declared, people
from golden.tables import SCHEMAS, opened

C = "SELECT COUNT(*) FROM census"
QUESTIONS = (
    """
{C} WHERE incom > 3
SELECT COUNT(salary) FROM census
SELECT COUNT(*) FROM cencus
SELECT COUNT(*) FROM 'census.parquet'
{C} WHERE region = 'north'
{C} WHERE region IN ('North', 'Moon')
SELECT region, COUNT(*) FROM census GROUP BY region HAVING region = 'Moon'
{C} WHERE region = 7
{C} WHERE region > 'North'
{C} WHERE age = '18'
{C} WHERE age IN (18, 'x')
{C} WHERE age LIKE '1%'
{C} WHERE employed = 1
{C} WHERE born = 20200101
{C} WHERE born = '2020-02-30'
{C} WHERE born > DATE '2020-02-30'
{C} WHERE seen > TIMESTAMP '2020-02-01 12:00:00+02:00'
SELECT SUM(region) FROM census
SELECT AVG(employed) FROM census
SELECT SUM(born) FROM census
SELECT COUNT(*) AS n FROM census HAVING n = 'x'
{C} WHERE age > income
{C} WHERE age
{C} WHERE ABS(age) > 3
{C} WHERE age * 2 > 3
{C} WHERE age > 1 + 2
{C} WHERE 1 = 1
{C} WHERE COUNT(*) > 3
{C} WHERE age = NULL
{C} WHERE age IN (3, NULL)
SELECT region, COUNT(*) FROM census
SELECT BIN(age, 10), COUNT(*) FROM census GROUP BY BIN(age, 5)
{C} GROUP BY region
SELECT region, COUNT(*) FROM census GROUP BY region HAVING SUM(age) > 3
SELECT region, COUNT(*) FROM census GROUP BY region ORDER BY salary
SELECT age, COUNT(*) FROM census GROUP BY age
SELECT born, COUNT(*) FROM census GROUP BY born
SELECT BIN(region, 2), COUNT(*) FROM census GROUP BY 1
SELECT BIN(age), COUNT(*) FROM census GROUP BY 1
SELECT DATE_TRUNC('month', age), COUNT(*) FROM census GROUP BY 1
SELECT region, COUNT(*) FROM census GROUP BY region, 2
SELECT BIN(age, 0), COUNT(*) FROM census GROUP BY 1
SELECT BIN(age, 2.5), COUNT(*) FROM census GROUP BY 1
SELECT BIN(age, '10'), COUNT(*) FROM census GROUP BY 1
SELECT DATE_TRUNC('hour', born), COUNT(*) FROM census GROUP BY 1
SELECT DATE_TRUNC('decade', born), COUNT(*) FROM census GROUP BY 1
SELECT BIN(income, 1), COUNT(*) FROM census GROUP BY 1
SELECT region, COUNT(*) FROM census GROUP BY region ORDER BY 3
SELECT region, COUNT(*) FROM census GROUP BY 0
SELECT region FROM census GROUP BY region
SELECT COUNT(*) + age FROM census
SELECT * FROM census
SELECT age FROM census
SELECT 1 FROM census
SELECT COUNT(*) / 0 FROM census
SELECT COUNT(*) * 1e301 FROM census
{C} WHERE age > 1e400
SELECT COUNT(*) * 0x10 FROM census
SELECT SKEWNESS(age) FROM census
SELECT CUONT(age) FROM census
SELECT SUM(age * 2) FROM census
SELECT SUM(*) FROM census
SELECT AVG(3) FROM census
SELECT COUNT(DISTINCT age) FROM census
SELECT DISTINCT COUNT(*) FROM census
SELECT COUNT(*) AS "a,b" FROM census
SELECT COUNT(*) AS n, SUM(age) AS N FROM census
{C} ORDER BY 1
{C} LIMIT 0
SELECT region, COUNT(*) FROM census GROUP BY region LIMIT 1.5
{C} HAVING COUNT(*) > 3 OR COUNT(*) < 2
{C} HAVING TRUE
{C}; SELECT 1
COPY census TO 'x'
{C}, other
{C} JOIN other ON 1 = 1
{C} WHERE age IS TRUE
{C} UNION SELECT COUNT(*) FROM census
{C} WHERE age IN (SELECT age FROM census)
SELECT COUNT(*) OVER () FROM census
SELECT COUNT(*) FILTER (WHERE age > 3) FROM census
SELECT COUNT(*) FROM read_csv('/etc/passwd')
SELECT COUNT(*) FROM (SELECT COUNT(*) FROM census)
SELECT COUNT(*) FROM (SELECT age + 1 FROM census)
SELECT COUNT(*) FROM (SELECT age FROM census) WHERE region = 'North'
SELECT QUANTILE(age, 1.5) FROM census
SELECT QUANTILE(age) FROM census
SELECT QUANTILE(age, income) FROM census
SELECT MEDIAN(region) FROM census
SELECT MODE(age) FROM census
SELECT CORR(age) FROM census
SELECT CORR(age, age) FROM census
SELECT COVAR_POP(age, born) FROM census
SELECT VARIANCE(region) FROM census
SELECT MEDIAN(age) + 1 FROM census
SELECT GREATEST(COUNT(*), 3) FROM census
DROP TABLE census
SELECT COUNT(* FROM census
SELECT
-- nothing
SELECT CASE WHEN age > 3 THEN 1 END FROM census
SELECT COUNT(*) FROM census TABLESAMPLE 10 PERCENT
{C} WHERE age BETWEEN 3
{C} QUALIFY 1 = 1
WITH a AS (SELECT * FROM census) SELECT COUNT(*) FROM b
""".strip()
    .replace("{C}", C)
    .split("\n")
)

PARAMETERS: dict[str, dict[str, Any]] = {
    "no epsilon": {},
    "epsilon and accuracy": {"epsilon": 1, "accuracy": ("interval", 0.95, 10)},
    "epsilon 0": {"epsilon": 0},
    "epsilon -1": {"epsilon": -1},
    "epsilon text": {"epsilon": "much"},
    "epsilon true": {"epsilon": True},
    "epsilon nan": {"epsilon": float("nan")},
    "epsilon infinite": {"epsilon": float("inf")},
    "epsilon huge": {"epsilon": 1e9},
    "epsilon tiny": {"epsilon": 1e-12},
    "minimise": {"epsilon": 1, "minimise": "varience"},
    "minimise level": {"epsilon": 1, "minimise": ("interval", 2)},
    "minimise none": {"epsilon": 1, "minimise": None},
    "accuracy text": {"accuracy": "good"},
    "accuracy level": {"accuracy": ("interval", 1, 10)},
    "accuracy reach": {"accuracy": ("interval", 0.95, 0)},
    "accuracy too good": {"accuracy": ("interval", 0.95, 1e-9)},
    "interval of a count": {"epsilon": 1, "interval": 0.95},
    "interval level": {"epsilon": 1, "interval": 95},
    "mechanism": {"epsilon": 1, "mechanism": "optimol"},
    "mechanism number": {"epsilon": 1, "mechanism": 3},
    "mechanism smooth": {"epsilon": 1, "mechanism": "smooth sensitivity 3"},
    "delta alone": {"epsilon": 1, "delta": 1e-6},
    "unknown": {"epsilon": 1, "epsilonn": 1},
    "fresh": {"epsilon": 1, "fresh": 1},
    "individual": {"epsilon": 1, "individual": "yes"},
    "individual and interval": {"epsilon": 1, "individual": True, "interval": 0.9},
    "individual without epsilon": {"individual": True},
    "key": {"epsilon": 1, "key": 3},
    "key empty": {"epsilon": 1, "key": ""},
    "prior text": {"epsilon": 1, "prior": "certain"},
    "prior categorical": {"epsilon": 1, "prior": tn.prior.Categorical({"a": "0.5", "b": "0.5"})},
    "prior without epsilon": {"prior": tn.prior.Binomial(240, 0.5)},
    "prior and accuracy": {
        "prior": tn.prior.Binomial(240, 0.5),
        "accuracy": ("interval", 0.95, 10),
    },
    "prior, delta too large": {"epsilon": 1, "prior": tn.prior.Binomial(240, 0.5), "delta": 1},
}

TABLE = '[table]\nname = "census"\nunit = "record"\nneighbours = "replace"\n\n'
AGE = '[columns.age]\ntype = "number"\nbounds = [0, 120]\n'


def _column(body: str) -> str:
    return f"{TABLE}[columns.x]\n{body}\n"


SCHEMA_TEXTS = {
    "empty": "",
    "no TOML": "[table",
    "no columns": TABLE,
    "no table": AGE,
    "blank": TABLE.replace('"record"', '"FILL IN"') + AGE,
    "unknown section": TABLE + AGE + "[tabel]\n",
    "unknown key": TABLE.replace("unit", "unti") + AGE,
    "neighbours": TABLE.replace('"replace"', '"similar"') + AGE,
    "unit": TABLE.replace('"record"', '"person"') + AGE,
    "name": TABLE.replace('"census"', '"a b"') + AGE,
    "rows": TABLE.replace("\n\n", "\nrows = -1\n\n") + AGE,
    "rows_per_unit": TABLE.replace("\n\n", "\nrows_per_unit = 3\n\n") + AGE,
    "no type": _column("bounds = [0, 1]"),
    "type": _column('type = "float"'),
    "no bounds": _column('type = "number"'),
    "bounds reversed": _column('type = "number"\nbounds = [2, 1]'),
    "bounds of three": _column('type = "number"\nbounds = [0, 1, 2]'),
    "bounds text": _column('type = "number"\nbounds = ["a", "b"]'),
    "bounds off grid": _column('type = "number"\nbounds = [0, 1]\ngrid = 0.3'),
    "grid 0": _column('type = "number"\nbounds = [0, 1]\ngrid = 0'),
    "too many steps": _column('type = "number"\nbounds = [0, 1e18]\ngrid = 1e-9'),
    "missing": _column('type = "number"\nbounds = [0, 1]\nmissing = 7'),
    "role": _column('type = "number"\nbounds = [0, 1]\nrole = "secret"'),
    "sensitive": _column('type = "number"\nbounds = [0, 1]\nsensitive = true'),
    "no categories": _column('type = "category"'),
    "one category": _column('type = "category"\ncategories = []'),
    "categories twice": _column('type = "category"\ncategories = ["a", "a"]'),
    "categories and taxonomy": _column('type = "category"\ncategories = ["a"]\ntaxonomy = "x"'),
    "taxonomy file": _column('type = "category"\ntaxonomy = "none.json"'),
    "date": _column('type = "date"\nbounds = [1, 2]'),
    "boolean bounds": _column('type = "boolean"\nbounds = [0, 1]'),
    "expression": _column('type = "number"\nbounds = [0, 1]\nexpression = "y * 2"'),
    "expression text": _column('type = "number"\nbounds = [0, 1]\nexpression = "system(1)"'),
    "bounds_per_unit": _column('type = "number"\nbounds = [0, 1]\nbounds_per_unit = [0, 2]'),
    "budget": TABLE + AGE + "[budget]\ntotal = -1\n",
    "budget total": TABLE + AGE + "[budget]\nper_analyst = 1\n",
    "budget delta": TABLE + AGE + "[budget]\ntotal = 1\ndelta = 2\n",
    "quota above total": TABLE + AGE + "[budget]\ntotal = 1\nper_analyst = 2\n",
    "protocol": TABLE + AGE + '[budget]\ntotal = 1\n[protocol]\nkind = "loud"\n',
    "protocol scale": TABLE + AGE + '[budget]\ntotal = 1\n[protocol]\nkind = "fixed-noise"\n',
    "question": TABLE + AGE + '[questions.q]\nsql = 3\npromise = "individual"\n',
    "question promise": TABLE + AGE + '[questions.q]\nsql = "SELECT 1"\npromise = "pure"\n',
    "several": TABLE.replace("unit", "unti") + _column('type = "float"').replace(TABLE, ""),
    "columns alike": TABLE + AGE + AGE.replace("age", "AGE"),
}


def _laws() -> dict[str, Case]:
    N = tn.noise
    law = N.DiscreteLaplace(sensitivity=1, epsilon=1)
    return {
        "Laplace, sensitivity 0": lambda: N.Laplace(sensitivity=0, epsilon=1),
        "Laplace, epsilon text": lambda: N.Laplace(sensitivity=1, epsilon="one"),
        "Laplace, nothing": lambda: N.Laplace(),
        "Laplace, unknown": lambda: N.Laplace(sensitivty=1, epsilon=1),
        "Laplace, places": lambda: N.Laplace(1, 1),
        "DiscreteLaplace, grid": lambda: N.DiscreteLaplace(sensitivity=1, epsilon=1, grid=0),
        "DiscreteLaplace, off grid": lambda: N.DiscreteLaplace(
            sensitivity=1, epsilon=1, grid="2/3"
        ),
        "DiscreteLaplace, true": lambda: N.DiscreteLaplace(sensitivity=True, epsilon=1),
        "DiscreteLaplace, list": lambda: N.DiscreteLaplace(sensitivity=[1], epsilon=1),
        "DiscreteLaplace, nan": lambda: N.DiscreteLaplace(sensitivity=1, epsilon=float("nan")),
        "DiscreteLaplace, division": lambda: N.DiscreteLaplace(sensitivity="1/0", epsilon=1),
        "Optimal, minimise": lambda: N.Optimal(sensitivity=1, epsilon=1, minimise="noise"),
        "Optimal, d": lambda: N.Optimal(sensitivity=1, epsilon=1, d=2),
        "Optimal, d and minimise": lambda: N.Optimal(
            sensitivity=1, epsilon=1, d=0.5, minimise="variance"
        ),
        "HeavyTail, gamma 1": lambda: N.HeavyTail(gamma=1, smooth_sensitivity=1, epsilon=1),
        "HeavyTail, gamma 2.5": lambda: N.HeavyTail(gamma=2.5, smooth_sensitivity=1, epsilon=1),
        "OptimalBox, empty": lambda: N.OptimalBox(sensitivities=[], epsilon=1),
        "OptimalBox, negative": lambda: N.OptimalBox(sensitivities=[1, -1], epsilon=1),
        "OptimalBox, number": lambda: N.OptimalBox(sensitivities=1, epsilon=1),
        "OptimalBox, core": lambda: N.OptimalBox(sensitivities=[1, 1], epsilon=1, core=[1]),
        "OptimalBox, signs": lambda: N.OptimalBox(sensitivities=[1, 1], epsilon=1, signs="plus"),
        "IndependentLaplace": lambda: N.IndependentLaplace(scales=[0]),
        "interval 1": lambda: law.interval(1),
        "interval text": lambda: law.interval("most"),
        "quantile 2": lambda: law.quantile(2),
        "sample -1": lambda: law.sample(-1),
        "sample 1.5": lambda: law.sample(1.5),
        "sample source": lambda: law.sample(2, source=7),
        "on_grid 0": lambda: N.Laplace(sensitivity=1, epsilon=1).on_grid(0),
        "loss text": lambda: law.loss("far"),
        "seed": lambda: N.Seeded("x").words(1, 7),
    }


def _priors() -> dict[str, Case]:
    P = tn.prior
    R = tn.mechanism.refine
    E = tn.estimate
    coin = P.Categorical({"a": "0.5", "b": "0.5"})
    law = tn.noise.DiscreteLaplace(sensitivity=1, epsilon=1)
    heavy = tn.noise.HeavyTail(gamma=4, smooth_sensitivity=1, epsilon=1)
    return {
        "Uniform reversed": lambda: P.Uniform(2, 1),
        "Uniform text": lambda: P.Uniform("low", "high"),
        "Normal sd": lambda: P.Normal(0, 0, -1, 1),
        "Normal far": lambda: P.Normal(1e6, 1, 0, 1),
        "Histogram lengths": lambda: P.Histogram([0, 1], [1, 2]),
        "Histogram order": lambda: P.Histogram([1, 0], [1]),
        "Histogram sum": lambda: P.Histogram([0, 1, 2], [0.5, 0.6]),
        "Points sum": lambda: P.Points({0: 0.5, 1: 0.6}),
        "Points empty": lambda: P.Points({}),
        "Points text": lambda: P.Points({"x": 1}),
        "Binomial p": lambda: P.Binomial(10, 1.5),
        "Binomial n": lambda: P.Binomial(-1, 0.5),
        "Binomial half": lambda: P.Binomial(1.5, 0.5),
        "BetaBinomial": lambda: P.BetaBinomial(10, 0, 1),
        "Categorical sum": lambda: P.Categorical({"a": 0.5}),
        "Categorical negative": lambda: P.Categorical({"a": 1.5, "b": -0.5}),
        "Categorical text": lambda: P.Categorical("a"),
        "Categorical twice": lambda: P.Categorical([("a", 0.5), ("a", 0.5)]),
        "Ordinal lengths": lambda: P.Ordinal(["a", "b"], [1]),
        "Table lengths": lambda: P.Table({("a",): 0.5, ("a", "b"): 0.5}),
        "Independent empty": lambda: P.Independent([]),
        "Independent density": lambda: P.Independent([P.Uniform(0, 1)]),
        "normalised zero": lambda: P.normalised([0, 0]),
        "normalised negative": lambda: P.normalised([1, -1]),
        "on_grid": lambda: P.Uniform(0, 1).on_grid("0.3"),
        "json": lambda: P.from_json("{"),
        "json kind": lambda: P.from_json('{"prior": "certain"}'),
        "json key": lambda: P.from_json('{"prior": "uniform", "low": 0}'),
        "json list": lambda: P.from_json("[]"),
        "json number": lambda: P.from_json(3),
        "sample": lambda: coin.sample(-1),
        "mass": lambda: coin.mass("c"),
        "refine kind": lambda: R(coin, "a", 1, kind="personal"),
        "refine truth": lambda: R(coin, "c", 1, kind="individual"),
        "refine epsilon": lambda: R(coin, "a", 0, kind="individual"),
        "refine delta": lambda: R(coin, "a", 1, kind="individual", delta=2),
        "refine alpha": lambda: R(coin, "a", 1, kind="individual", alpha_up=7),
        "refine prior": lambda: R({"a": 1}, "a", 1, kind="individual"),
        "refine outside": lambda: R(P.Uniform(0, 1), 2, 1, kind="statistical"),
        "expected error": lambda: tn.mechanism.expected_error(coin, 1, kind="x"),
        "count, categorical": lambda: E.count(3, law, coin),
        "count, heavy": lambda: E.count(3, heavy, P.Binomial(9, 0.5)),
        "count, law": lambda: E.count(3, "law", P.Binomial(9, 0.5)),
        "count, noisy": lambda: E.count("x", law, P.Binomial(9, 0.5)),
        "count, off grid": lambda: E.count(3.5, law, P.Binomial(9, 0.5)),
        "counts, total": lambda: E.counts([1, 2], law, total=-1),
        "counts, empty": lambda: E.counts([], law, total=1),
        "refined, sample": lambda: E.refined("c", coin, 1, kind="individual"),
        "compare, estimator": lambda: E.compare(law, P.Binomial(9, 0.5), estimator="best"),
        "out of range": lambda: E.out_of_range(10, 9, law),
        "free, individual": lambda: E.require_free(promise=tn.Individual(1)),
        "posterior, interval": lambda: E.count(3, law, P.Binomial(9, 0.5)).interval(1),
        "margin": lambda: E.Margin(law, 0),
    }


def _rooms() -> dict[str, Case]:
    S, T, W = tn.sensitivity, tn.Taxonomy, tn.sensitivity.worst_case
    rows = [1, 2, 2, 5, 9]
    return {
        "local statistic": lambda: S.local("medain", rows, bounds=(0, 10)),
        "local bounds": lambda: S.local("median", rows, bounds=(10, 0)),
        "local outside": lambda: S.local("median", rows, bounds=(0, 5)),
        "local empty": lambda: S.local("median", [], bounds=(0, 10)),
        "local quantile": lambda: S.local("quantile", rows, bounds=(0, 10)),
        "smooth beta": lambda: S.smooth("median", rows, bounds=(0, 10), beta=0),
        "smooth rows": lambda: S.smooth("median", rows, bounds=(0, 10), beta=1, rows_public=False),
        "smooth mean": lambda: S.smooth("mean", rows, bounds=(0, 10), beta=1),
        "admissible": lambda: S.admissible_beta(1, 1),
        "count": lambda: W.count(neighbours="near"),
        "total": lambda: W.total(bounds=(1, 0), neighbours="replace"),
        "mean": lambda: W.mean(bounds=(0, 1), rows=0, neighbours="replace"),
        "mean, added": lambda: W.mean(bounds=(0, 1), rows=5, neighbours="add-or-remove"),
        "individual noise": lambda: tn.mechanism.individual(
            "median", rows, bounds=(0, 10), epsilon=1, noise="white"
        ),
        "individual source": lambda: tn.mechanism.individual(
            "median", rows, bounds=(0, 10), epsilon=1, source=tn.noise.Seeded(7)
        ),
        "individual statistic": lambda: tn.mechanism.individual(
            "skew", rows, bounds=(0, 10), epsilon=1
        ),
        "individual mode": lambda: tn.mechanism.individual("mode", ["a"], epsilon=1),
        "smooth release rows": lambda: tn.mechanism.smooth_release(
            "median", rows, 0, 10, 1, 3, rows_public=False
        ),
        "smooth release source": lambda: tn.mechanism.smooth_release(
            "median", rows, 0, 10, 1, 3, tn.noise.Seeded(7), rows_public=True
        ),
        "taxonomy circle": lambda: T.from_edges([("a", "b"), ("b", "a")]),
        "taxonomy roots": lambda: T.from_edges([("a", "b"), ("c", "d")]),
        "taxonomy empty": lambda: T.from_edges([]),
        "taxonomy flat": lambda: T.flat([]),
        "taxonomy nested": lambda: T.from_nested({"a": 3}),
        "taxonomy two roots": lambda: T.from_nested({"a": [], "b": []}),
        "taxonomy file": lambda: T.load("none.json"),
        "taxonomy category": lambda: T.flat(["a", "b"]).distance("a", "c"),
        "taxonomy twice": lambda: T.flat(["a", "a"]),
        "taxonomy attached": lambda: T.from_edges([("a", "b")], {"x": "y"}),
        "promise epsilon": lambda: tn.Pure(0),
        "promise delta": lambda: tn.Approximate(1, 1),
        "promise k": lambda: tn.KAnonymity(1.5),
        "promise t": lambda: tn.TCloseness(0.5),
        "promise kind": lambda: tn.promise.promise_from({"kind": "trust me"}),
        "promise neighbours": lambda: tn.promise.checked_neighbours("near"),
        "certificate": lambda: tn.Certificate.from_json("{}"),
        "certificate text": lambda: tn.Certificate.from_json("no"),
        "mdav k": lambda: tn.microdata.mdav([[1], [2]], 0),
        "mdav k too large": lambda: tn.microdata.mdav([[1], [2]], 3),
        "mdav empty": lambda: tn.microdata.mdav([], 2),
        "mdav text": lambda: tn.microdata.mdav([["a"]], 1),
        "mdav nan": lambda: tn.microdata.mdav([[float("nan")], [1]], 1),
        "mdav scale": lambda: tn.microdata.mdav([[1], [2]], 1, scale=[0]),
        "v-mdav gamma": lambda: tn.microdata.v_mdav([[1], [2]], 1, -1),
        "ranking method": lambda: tn.microdata.individual_ranking([1, 2], 1, method="best"),
        "draft empty": lambda: tn.schema.draft([], name="t"),
        "draft type": lambda: tn.schema.draft(
            [tn.schema.DraftColumn(name="a", type="float64")], name="t"
        ),
        "schema load": lambda: tn.Schema.load("none.toml"),
        "schema dict": lambda: tn.Schema.from_dict({}),
        "schema none": lambda: tn.Schema.from_dict(None),
        "schema column": lambda: tn.Schema.from_dict(SCHEMAS["added"]).column("incme"),
        "schema steps": lambda: tn.Schema.from_dict(SCHEMAS["added"]).column("rate").to_steps(0.33),
        "schema replace": lambda: tn.Schema.from_dict(SCHEMAS["added"]).replace(tabel={}),
        "expression": lambda: tn.schema.Expression.parse("a +"),
        "expression function": lambda: tn.schema.Expression.parse("exp(a)"),
        "attribute": lambda: tn.nothing,
    }


def _evaluate() -> dict[str, Case]:
    E = tn.evaluate
    schema = tn.Schema.from_dict(declared())
    rows = people(12)
    return {
        "check nothing": lambda: E.check(rows),
        "check column": lambda: E.check(rows, quasi_identifiers=["agee"]),
        "check both": lambda: E.check(rows, quasi_identifiers=["age"], confidential=["age"]),
        "check unit": lambda: E.check(rows, quasi_identifiers=["age"], unit="nobody"),
        "check empty": lambda: E.check(rows.slice(0, 0), schema),
        "check file": lambda: E.check("none.csv", schema),
        "check lists": lambda: E.check(pa.table({"a": [[1], [2]]}), quasi_identifiers=["a"]),
        "check schema": lambda: E.check(rows, 3),
        "check object": lambda: E.check(object(), schema),
        "sse rows": lambda: E.sse([[1], [2]], [[1]]),
        "sse columns": lambda: E.sse([[1, 2]], [[1]]),
        "sse names": lambda: E.sse(pa.table({"a": [1]}), pa.table({"b": [1]})),
        "within percent": lambda: E.within([[1]], [[1]], -1),
        "within missing": lambda: E.within([[1]], [[1]]),
        "distributions bins": lambda: E.distributions([[1]], [[1]], bins=0),
        "correlation one": lambda: E.correlation_difference([[1], [2]], [[1], [2]]),
        "linkage scale": lambda: E.record_linkage([[1, 2]], [[1, 2]], scale=[1]),
        "score of": lambda: E.Score.of(
            sse=-1, record_linkage=1, baseline_sse=1, baseline_record_linkage=1
        ),
        "score baseline": lambda: E.score([[1], [2]], [[1], [2]], [[1], [2]]),
        "risk schema": lambda: E.risk(rows, rows, None),
        "utility schema": lambda: E.utility(rows, rows, None),
        "records columns": lambda: tn.microdata.records(rows, schema, ["nothing"]),
    }


PUBLISH: dict[str, dict[str, Any]] = {
    "method": {"method": "shuffle", "k": 3},
    "k 0": {"method": "swap", "k": 0},
    "k 1": {"method": "swap", "k": 1},
    "k text": {"method": "swap", "k": "many"},
    "k too large": {"method": "swap", "k": 61},
    "k too large, microaggregate": {"method": "microaggregate", "k": 61},
    "by": {"method": "swap", "k": 3, "by": "mdav"},
    "by, microaggregate": {"method": "microaggregate", "k": 3, "by": "quasi-identifiers"},
    "k for each": {"method": "swap", "k": {"income": 3}},
    "k for each, unknown": {"method": "swap", "k": {"x": 3}, "by": "other-attributes"},
    "k for each, microaggregate": {"method": "microaggregate", "k": {"income": 3}},
    "l, swap": {"method": "swap", "k": 3, "l": 2},
    "t, swap": {"method": "swap", "k": 3, "t": 0.2},
    "l 1": {"method": "microaggregate", "k": 3, "l": 1},
    "l too large": {"method": "microaggregate", "k": 3, "l": 99},
    "t 2": {"method": "microaggregate", "k": 3, "t": 2},
    "t -1": {"method": "microaggregate", "k": 3, "t": -1},
    "gamma, mdav": {"method": "microaggregate", "k": 3, "gamma": 1},
    "gamma": {"method": "microaggregate", "k": 3, "by": "v-mdav", "gamma": -1},
    "override": {"method": "swap", "k": 3, "override": "everything"},
    "ledger": {"method": "swap", "k": 3, "ledger": 7},
    "unknown": {"method": "swap", "k": 3, "kk": 3},
    "no k": {"method": "swap"},
}
_PUBLISH_SCHEMAS: dict[str, dict[str, Any]] = {
    "no role": declared(note={"role": "identifier"}) | {},
    "no quasi-identifiers": declared(
        age={"role": "other"}, job={"role": "other"}, since={"role": "other"}
    ),
    "no confidential": declared(
        income={"role": "other"}, tax={"role": "other"}, ill={"role": "other"}
    ),
    "sensitive": declared(ill={"sensitive": True}),
    "persons": declared("name"),
    "missing column": declared(height={"type": "number"}, note={"categories": ["plain"]}),
}


def _publish() -> dict[str, Case]:
    def refused(schema: Any, source: Any = None, **options: Any) -> Case:
        return lambda: tn.publish(people() if source is None else source, schema=schema, **options)

    cases = {name: refused(declared(), **options) for name, options in PUBLISH.items()}
    for name, schema in _PUBLISH_SCHEMAS.items():
        cases[f"schema, {name}"] = refused(schema, method="microaggregate", k=3)
        cases[f"schema, {name}, swap"] = refused(schema, method="swap", k=3)
    rows = people()
    cases |= {
        "schema number": refused(3, method="swap", k=3),
        "schema file": refused("none.toml", method="swap", k=3),
        "no column": refused(declared(), rows.drop_columns(["age"]), method="swap", k=3),
        "no rows": refused(declared(), rows.slice(0, 0), method="swap", k=3),
        "no file": refused(declared(), "none.csv", method="swap", k=3),
        "no table": refused(declared(), object(), method="swap", k=3),
        "save folder": lambda: tn.publish(people(12), schema=declared(), method="swap", k=3).save(
            3
        ),
        "save kind": lambda: tn.publish(people(12), schema=declared(), method="swap", k=3).save(
            "out", kind="xlsx"
        ),
    }
    # these are not refused but succeed; their tables are recorded elsewhere
    for name in ("schema, no role", "schema, sensitive, swap", "schema, persons"):
        cases.pop(name)
    cases.pop("schema, no role, swap")
    return cases


def _protect() -> dict[str, Case]:
    def change(section: str, name: str = "added", **keys: Any) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(json.dumps(SCHEMAS[name]))
        made[section] = {**made.get(section, {}), **keys}
        return made

    def protect(schema: Any, source: Any = None, **options: Any) -> Case:
        from golden.tables import census

        def call() -> Any:
            with tn.protect(
                census() if source is None else source,
                schema=schema,
                **{"ledger": tn.ledger.Memory(), **options},
            ) as data:
                return type(data).__name__

        return call

    without = {k: v for k, v in SCHEMAS["added"].items() if k != "budget"}
    persons = json.loads(json.dumps(SCHEMAS["visits"]))
    del persons["table"]["rows_per_unit"]
    return {
        "analyst holder": protect(SCHEMAS["added"], analyst="Holder "),
        "analyst number": protect(SCHEMAS["added"], analyst=3),
        "no budget": protect(without),
        "bounds from data": protect(change("table", bounds_from_data=True)),
        "rows": protect(change("table", "replaced", rows=7)),
        "no schema": lambda: tn.protect(pa.table({"a": [1]})),
        "schema number": protect(3),
        "schema file": protect("none.toml"),
        "ledger number": protect(SCHEMAS["added"], ledger=7),
        "no ledger": protect(SCHEMAS["added"], ledger=None),
        "source file": protect(SCHEMAS["added"], source="none.parquet"),
        "source object": protect(SCHEMAS["added"], source=object()),
        "source columns": protect(SCHEMAS["added"], source=pa.table({"a": [1]})),
        "source connection": protect(SCHEMAS["added"], source="postgres://127.0.0.1:1/nowhere"),
        "persons without limit": protect(persons),
        "unknown": protect(SCHEMAS["added"], analist="ann"),
        "many empty": lambda: session("added").ask_many([], epsilon=1),
        "many text": lambda: session("added").ask_many("SELECT", epsilon=1),
        "many numbers": lambda: session("added").ask_many([1], epsilon=1),
        "many epsilon": lambda: session("added").ask_many([C], epsilon=0),
        "many wrong": lambda: session("added").ask_many([C, "SELECT"], epsilon=1),
        "refinement without prior": lambda: session("refinement").ask(C, epsilon=1),
        "refinement many": lambda: session("refinement").ask_many([C], epsilon=1),
        "fixed individual": lambda: session("fixed").ask(C, epsilon=1, individual=True),
        "fixed interval": lambda: session("fixed").ask(C, interval=0.9),
        "one person without prior": lambda: session("people").ask(
            "SELECT sick FROM people WHERE id = 17", epsilon=1
        ),
        "one person, wrong prior": lambda: session("people").ask(
            "SELECT sick FROM people WHERE id = 17", epsilon=1, prior=tn.prior.Uniform(0, 1)
        ),
        "one person, missing category": lambda: session("people").ask(
            "SELECT employed FROM people WHERE id = 17",
            epsilon=1,
            prior=tn.prior.Categorical({"maybe": 1}),
        ),
        "identifier counted": lambda: session("people").ask(
            "SELECT COUNT(id) FROM people", epsilon=1
        ),
        "identifier filtered": lambda: session("people").ask(
            "SELECT COUNT(*) FROM people WHERE id = 17", epsilon=1
        ),
        "identifier grouped": lambda: session("people").ask(
            "SELECT id, COUNT(*) FROM people GROUP BY id", epsilon=1
        ),
        "over budget": lambda: opened("added").ask(C, epsilon=1001),
        "over delta": lambda: opened("people").ask(
            "SELECT sick FROM people WHERE id = 17",
            epsilon=1,
            prior=tn.prior.Categorical({True: "0.5", False: "0.5"}),
            delta=0.5,
        ),
        "answer interval": lambda: opened("replaced").ask(C, epsilon=1).interval(1),
        "answer rank": lambda: opened("replaced").ask(C, epsilon=1).rank_error("x"),
    }


def _ledger() -> dict[str, Case]:
    L = tn.ledger

    def books(**options: Any) -> Any:
        made = L.Memory()
        made.open_dataset("d", 1, **{"neighbours": "add-or-remove", **options})
        return made

    def one(epsilon: Any = 0.5, **options: Any) -> Any:
        return L.Charge.of(epsilon=epsilon, **{"neighbours": "add-or-remove", **options})

    def twice(made: Any) -> Any:
        paid = made.reserve("d", "ann", one(), "k", L.digest("q"))
        made.commit(paid, b"1")
        return made.commit(paid, b"2")

    def held(made: Any) -> Any:
        made.reserve("d", "ann", one(), "k", L.digest("q"))
        return made.reserve("d", "ann", one(), "k", L.digest("q"))

    def other(made: Any) -> Any:
        made.commit(made.reserve("d", "ann", one(), "k", L.digest("q")), b"1")
        return made.reserve("d", "ann", one(), "k", L.digest("r"))

    def released(made: Any, **options: Any) -> Any:
        made.register_release("d", "a" * 64, method="swap")
        return made.register_release("d", "b" * 64, method="swap", **options)

    def text_ledger() -> Any:
        Path("x.ledger").write_text("no ledger")
        return L.SQLite("x.ledger").datasets()

    def limited(made: Any) -> Any:
        options: dict[str, Any] = {"column": "individual", "question_name": "q", "times": 1}
        made.reserve("d", "ann", one(0.1), "a", L.digest("q"), **options)
        return made.reserve("d", "ann", one(0.1), "b", L.digest("q"), **options)

    return {
        "neighbours": lambda: books(neighbours="near"),
        "no neighbours": lambda: L.Memory().open_dataset("d", 1),
        "total 0": lambda: L.Memory().open_dataset("d", 0, neighbours="replace"),
        "total text": lambda: L.Memory().open_dataset("d", "all", neighbours="replace"),
        "quota": lambda: L.Memory().open_dataset("d", 1, 2, neighbours="replace"),
        "delta": lambda: books(total_delta=1),
        "name": lambda: L.Memory().open_dataset("", 1, neighbours="replace"),
        "name number": lambda: L.Memory().open_dataset(3, 1, neighbours="replace"),
        "neighbours changed": lambda: books().open_dataset("d", 1, neighbours="replace"),
        "no data set": lambda: L.Memory().balance(),
        "unknown data set": lambda: books().balance("e"),
        "reserve unknown": lambda: books().reserve("e", "ann", one(), "k", L.digest("q")),
        "over budget": lambda: books().reserve("d", "ann", one(2), "k", L.digest("q")),
        "over quota": lambda: books(per_analyst=0.1).reserve("d", "ann", one(), "k", L.digest("q")),
        "over delta": lambda: books().reserve("d", "ann", one(delta=1e-6), "k", L.digest("q")),
        "individual": lambda: books(individual=0.1).reserve(
            "d", "ann", one(), "k", L.digest("q"), column="individual"
        ),
        "column": lambda: books().reserve("d", "ann", one(), "k", L.digest("q"), column="x"),
        "analyst": lambda: books().reserve("d", "", one(), "k", L.digest("q")),
        "charge": lambda: books().reserve("d", "ann", 0.5, "k", L.digest("q")),
        "charge 0": lambda: one(0),
        "charge without neighbours": lambda: L.Charge.of(epsilon=1),
        "charge person": lambda: L.Charge.of(epsilon=1, neighbours="replace", person="17"),
        "charge nano": lambda: L.Charge(-1, 0, "replace"),
        "charge in": lambda: L.charge_in("add-or-remove", "replace", 7),
        "delta in": lambda: L.delta_in("add-or-remove", "replace", 1, 1),
        "commit twice": lambda: twice(books()),
        "commit text": lambda: books().commit(
            books().reserve("d", "ann", one(), "k", L.digest("q")), "1"
        ),
        "held": lambda: held(books()),
        "another question": lambda: other(books()),
        "second release": lambda: released(books()),
        "release override": lambda: released(books(), override="yes"),
        "release digest": lambda: books().register_release("d", "", method="swap"),
        "withdrawn": lambda: (
            lambda made: [
                made.register_release("d", "a" * 64, method="swap"),
                made.withdraw_release("d", "a" * 64, reason="x"),
            ]
        )(books()),
        "times": lambda: limited(books(individual=1)),
        "no file": lambda: L.SQLite("no/such/folder/x.ledger").datasets(),
        "no ledger": text_ledger,
        "anchor": lambda: L.Anchor.read("none"),
        "digest": lambda: L.digest(object()),
    }


def _cases() -> dict[str, Case]:
    def question(sql: str) -> Case:
        return lambda: session("added").explain(sql, epsilon=1)

    found: dict[str, Case] = {f"question: {sql}": question(sql) for sql in QUESTIONS}
    for name, options in PARAMETERS.items():
        for verb in ("ask", "explain"):
            if verb == "ask" or not {"fresh", "individual", "key"} & set(options):
                found[f"parameter: {verb}, {name}"] = lambda verb=verb, options=options: getattr(
                    session("added"), verb
                )(f"{C} WHERE age > 3", **options)
    for name, text in SCHEMA_TEXTS.items():
        found[f"schema: {name}"] = lambda text=text: tn.Schema.parse(text)
    for title, cases in {
        "law": _laws(),
        "belief": _priors(),
        "room": _rooms(),
        "evaluate": _evaluate(),
        "publish": _publish(),
        "protect": _protect(),
        "ledger": _ledger(),
    }.items():
        found |= {f"{title}: {name}": case for name, case in cases.items()}
    return {name: _inside(case) for name, case in found.items()}


def _inside(case: Case) -> Case:
    """How a call in an empty folder is refused; or that it is not, for a few look wrong and are
    not. What those return may be random, and is recorded elsewhere."""

    def call() -> Any:
        with folder() as place:
            told = masked_in(outcome(lambda: repr(case())), place)
            return {"accepted": True} if "is" in told else told

    return call


THEME = Theme("refusals", _cases())
