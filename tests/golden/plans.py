"""What `explain` says of questions: text, page and JSON."""

from __future__ import annotations

import functools
from typing import Any

import tenue as tn
from golden.kit import Case, Theme, lines, outcome, parsed
from golden.tables import SCHEMAS, opened

C = "FROM census"
CENSUS = (
    f"SELECT COUNT(*) {C}",
    f"SELECT COUNT(age) {C}",
    f"SELECT COUNT(*) {C} WHERE income > 50000",
    f"SELECT COUNT(*) {C} WHERE income BETWEEN 1000 AND 90000 AND NOT employed OR age IS NULL",
    f"SELECT COUNT(*) {C} WHERE region IN ('North', 'East') AND age <> 30",
    f"SELECT COUNT(*) {C} WHERE born >= DATE '1980-01-01'"
    " AND seen < TIMESTAMP '2020-06-01 12:00:00'",
    f"SELECT SUM(income) {C}",
    f"SELECT SUM(rate) AS r {C} WHERE employed",
    f"SELECT AVG(income) {C}",
    f"SELECT AVG(age) AS mean {C} WHERE region = 'North'",
    f"SELECT COUNT(*), SUM(income) {C}",
    f"SELECT COUNT(*) AS n, SUM(income) AS s, AVG(age) AS a {C}",
    f"SELECT COUNT(*) AS n, SUM(income) AS s, SUM(age) AS t, SUM(rate) AS u {C} WHERE employed",
    f"SELECT 2 * SUM(income) / COUNT(*) + 1 AS x {C}",
    f"SELECT SUM(income) - SUM(age) AS d {C}",
    f"SELECT MEDIAN(income) {C}",
    f"SELECT MEDIAN(age) AS m, COUNT(*) AS n {C}",
    f"SELECT QUANTILE(income, 0.9) {C}",
    f"SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age) {C}",
    f"SELECT MIN(age), MAX(age) {C}",
    f"SELECT MEDIAN(born) {C}",
    f"SELECT MAX(seen) {C}",
    f"SELECT VARIANCE(age) {C}",
    f"SELECT VAR_POP(rate), STDDEV(age) {C}",
    f"SELECT STDDEV_POP(income) {C}",
    f"SELECT COVAR_POP(age, rate) {C}",
    f"SELECT COVAR_SAMP(age, rate) {C}",
    f"SELECT CORR(age, rate) {C}",
    f"SELECT REGR_SLOPE(rate, age) {C}",
    f"SELECT MODE(region) {C}",
    f"SELECT region, COUNT(*) {C} GROUP BY region",
    f"SELECT region, employed, AVG(income) AS m {C}"
    " GROUP BY region, employed ORDER BY m DESC LIMIT 3",
    f"SELECT BIN(age, 20) AS b, COUNT(*) AS n {C} GROUP BY b HAVING n > 10",
    f"SELECT DATE_TRUNC('year', seen) AS y, COUNT(*) {C} GROUP BY y",
    f"SELECT DATE_TRUNC('quarter', seen) AS q, SUM(rate) {C} GROUP BY q",
    f"SELECT region, MEDIAN(age) {C} GROUP BY region",
    f"SELECT region, MODE(region) AS most, COUNT(*) {C} GROUP BY region",
    "WITH old AS (SELECT age, income AS pay FROM census WHERE age > 60) SELECT AVG(pay) FROM old",
)
DERIVED = (
    f"SELECT AVG(thousands) {C}",
    f"SELECT SUM(spread) {C} WHERE thousands > 20",
    f"SELECT MEDIAN(spread) {C}",
    f"SELECT BIN(thousands, 50) AS b, COUNT(*) {C} GROUP BY b",
)
VISITS = (
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(DISTINCT patient) FROM visits",
    "SELECT COUNT(DISTINCT patient) AS p, COUNT(*) AS n, SUM(cost) AS s FROM visits WHERE sick",
    "SELECT SUM(cost) FROM visits",
    "SELECT AVG(cost) FROM visits",
    "SELECT MEDIAN(cost) AS middle FROM visits",
    "SELECT MAX(cost), MIN(day) FROM visits",
    "SELECT VARIANCE(cost) FROM visits",
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
    "SELECT ward, SUM(cost) AS s, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT ward, COUNT(DISTINCT patient) FROM visits GROUP BY ward",
    "SELECT DATE_TRUNC('month', day) AS m, AVG(cost) FROM visits GROUP BY m",
    "SELECT MODE(ward) FROM visits",
)
PEOPLE = (
    "SELECT COUNT(*) FROM people WHERE sick",
    "SELECT AVG(age) FROM people",
    "SELECT MEDIAN(age) FROM people",
    "SELECT employed, benefits, COUNT(*) FROM people GROUP BY 1, 2",
)


@functools.cache
def session(name: str) -> Any:
    """The table of a schema, opened once: to explain reads no rows and changes nothing."""
    return opened(name)


SHOWN = {
    f"added: {CENSUS[2]}",
    f"replaced: {CENSUS[16]}",
    "one person",
}
"""Questions whose plans are recorded in every rendering."""


def explained(name: str, sql: str, shown: bool = False, **options: Any) -> Any:
    """What a plan tells: its text, and the errors with all digits; `shown`: all of it."""
    data = session(name)

    def tell() -> Any:
        plan = data.explain(sql, **options)
        if not shown:
            ways = plan.to_dict().get("candidates", ())
            return {
                "text": lines(str(plan)),
                "errors": [[o["expected_error"] for o in way["outputs"]] for way in ways],
                "epsilon": plan.epsilon,
            }
        return {
            "text": lines(str(plan)),
            "repr": "as text" if repr(plan) == str(plan) else lines(repr(plan)),
            "html": lines(plan._repr_html_()),
            "json": parsed(plan.to_json()),
            "dict": "as JSON" if plan.to_dict() == parsed(plan.to_json())["is"] else plan.to_dict(),
            "epsilon": plan.epsilon,
            "chosen": plan.chosen.mechanism,
        }

    return outcome(tell)


def beliefs() -> dict[str, tuple[str, str, dict[str, Any]]]:
    P = tn.prior
    yes = P.Table({("yes", "no"): "0.8", ("no", "yes"): "0.15", ("no", "no"): "0.05"})
    sick = P.Categorical({True: "0.3", False: "0.7"})
    count = f"SELECT COUNT(*) {C} WHERE employed"
    one = "SELECT sick FROM people WHERE id = 17"
    both = "SELECT employed, benefits FROM people WHERE id = 17"
    return {
        "count, Binomial": ("added", count, {"epsilon": 0.2, "prior": P.Binomial(240, 0.6)}),
        "count, BetaBinomial": ("added", count, {"epsilon": 1, "prior": P.BetaBinomial(240, 2, 2)}),
        "count, replaced": ("replaced", count, {"epsilon": 0.05, "prior": P.Binomial(240, 0.6)}),
        "sum, Uniform": (
            "added",
            f"SELECT SUM(age) {C}",
            {"epsilon": 0.05, "prior": P.Uniform(0, 20_000)},
        ),
        "sum, Normal": (
            "added",
            f"SELECT SUM(age) {C}",
            {"epsilon": 1, "prior": P.Normal(10_000, 500, 0, 20_000)},
        ),
        "mean, replaced": (
            "replaced",
            f"SELECT AVG(age) {C}",
            {"epsilon": 0.1, "prior": P.Normal(45, 10, 0, 120)},
        ),
        "mean, added": (
            "added",
            f"SELECT AVG(age) {C}",
            {"epsilon": 0.1, "prior": P.Normal(45, 10, 0, 120)},
        ),
        "one person": ("people", one, {"epsilon": 1, "prior": sick}),
        "one person, exchanged": ("exchanged", one, {"epsilon": 1, "prior": sick}),
        "one person, two columns": ("people", both, {"epsilon": 1, "prior": yes}),
        "one person, delta": ("people", both, {"epsilon": 1, "prior": yes, "delta": 1e-6}),
        "one person, age": (
            "people",
            "SELECT age FROM people WHERE id = 17",
            {"epsilon": 2, "prior": P.Normal(40, 20, 0, 100)},
        ),
        "refinement, sum": (
            "refinement",
            f"SELECT SUM(age) {C}",
            {"epsilon": 0.05, "prior": P.Uniform(0, 20_000)},
        ),
        "by name": (
            "added",
            count,
            {
                "epsilon": 0.2,
                "prior": P.Binomial(240, 0.6),
                "mechanism": "knowledge refinement",
            },
        ),
    }


OPTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("added", CENSUS[2], {"accuracy": ("interval", 0.95, 10)}),
    ("added", CENSUS[6], {"accuracy": ("interval", "0.9", 100_000)}),
    ("replaced", CENSUS[8], {"accuracy": ("interval", 0.95, 500)}),
    ("visits", VISITS[3], {"accuracy": ("interval", 0.95, 5000)}),
    ("added", CENSUS[8], {"accuracy": ("interval", 0.95, 500)}),
    ("added", CENSUS[15], {"accuracy": ("interval", 0.95, 500)}),
    ("added", CENSUS[6], {"epsilon": 0.5, "minimise": "absolute-error"}),
    ("added", CENSUS[6], {"epsilon": 0.5, "minimise": ("interval", 0.95)}),
    ("added", CENSUS[11], {"epsilon": 0.5, "minimise": "absolute-error"}),
    ("added", CENSUS[11], {"epsilon": 0.5, "minimise": ("interval", 0.9)}),
    ("replaced", CENSUS[8], {"epsilon": "1/3", "minimise": "absolute-error"}),
    ("visits", VISITS[9], {"epsilon": 2, "minimise": "absolute-error"}),
    ("added", CENSUS[15], {"epsilon": 1, "interval": 0.95}),
    ("added", CENSUS[16], {"epsilon": 1, "interval": 0.9}),
    ("replaced", CENSUS[19], {"epsilon": 1, "interval": 0.95}),
    ("added", CENSUS[35], {"epsilon": 4, "interval": 0.95}),
    ("visits", VISITS[5], {"epsilon": 4, "interval": 0.9}),
    ("added", CENSUS[6], {"epsilon": 1, "mechanism": "discrete Laplace"}),
    ("added", CENSUS[6], {"epsilon": 1, "mechanism": "optimal"}),
    ("visits", VISITS[3], {"epsilon": 1, "mechanism": "optimal"}),
    ("replaced", CENSUS[15], {"epsilon": 1, "mechanism": "smooth sensitivity"}),
    ("added", CENSUS[15], {"epsilon": 1, "mechanism": "nothing of the kind"}),
    ("added", CENSUS[2], {"epsilon": "1/3"}),
    ("added", CENSUS[2], {"epsilon": 20}),
    ("added", CENSUS[2], {"epsilon": 0.001}),
    ("fixed", CENSUS[2], {}),
    ("fixed", CENSUS[6], {}),
    ("fixed", CENSUS[11], {}),
    ("fixed", CENSUS[30], {}),
    ("fixed", CENSUS[15], {}),
    ("fixed", CENSUS[2], {"epsilon": 1}),
    ("fixed", CENSUS[2], {"accuracy": ("interval", 0.95, 100)}),
)


def _cases() -> dict[str, Case]:
    asked = [(name, sql) for name in ("added", "replaced") for sql in CENSUS]
    asked += [("uncounted", sql) for sql in CENSUS[:2] + CENSUS[6:12] + CENSUS[15:19]]
    asked += [("added", sql) for sql in DERIVED]
    asked += [("visits", sql) for sql in VISITS]
    asked += [(name, sql) for name in ("people", "exchanged") for sql in PEOPLE]
    cases: dict[str, Case] = {}
    for name, sql in asked:
        cases[f"{name}: {sql}"] = lambda name=name, sql=sql: explained(
            name, sql, f"{name}: {sql}" in SHOWN, epsilon=0.5
        )
    for name, sql, options in OPTIONS:
        cases[f"{name}: {sql}; {options}"] = lambda name=name, sql=sql, options=options: explained(
            name, sql, **options
        )
    slow = ("sum, Uniform", "sum, Normal", "mean, added")  # their plans come with their answers
    for title, (name, sql, options) in beliefs().items():
        if title in slow:
            continue
        cases[f"belief: {title}"] = lambda name=name, sql=sql, options=options, title=title: (
            explained(name, sql, title in SHOWN, **options)
        )
    for name in SCHEMAS:
        cases[f"schema {name}"] = lambda name=name: _schema(name)
    return cases


def _schema(name: str) -> Any:
    """What a schema says of itself; its digest goes into every certificate."""
    made = tn.Schema.from_dict(SCHEMAS[name])
    return {
        "digest": made.digest,
        "toml": made.to_toml().split("\n") if name in ("added", "visits") else None,
        "again": tn.Schema.parse(made.to_toml()).digest == made.digest,
        "dict": tn.Schema.from_dict(made.to_dict()).digest == made.digest,
        "columns": {c.name: repr(c).partition("(")[0] for c in made.columns.values()},
    }


THEME = Theme("plans", _cases(), exact=False)
