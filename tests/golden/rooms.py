"""Rooms that stand alone: sensitivities, mechanisms, categories, schemas, books in memory."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import tenue as tn
from golden.answers import balance, certificate
from golden.kit import Case, Theme, entropy, lines, outcome
from golden.laws import each
from golden.tables import JOBS, SCHEMAS

ROWS = [i * i % 41 for i in range(25)]
PAIRS = [(i * 7 % 11, i * 3 % 11) for i in range(20)]
WORDS = ["a", "b", "a", "c", "a", "b", "a"]
STATISTICS = (
    "median",
    "max",
    "min",
    "second-max",
    "kth-largest",
    "kth-smallest",
    "quantile",
    "mean",
    "sum",
    "variance",
    "range-count",
)
MORE: dict[str, dict[str, Any]] = {
    "quantile": {"q": 0.25},
    "kth-largest": {"k": 4},
    "kth-smallest": {"k": 3},
    "range-count": {"low": 5, "high": 20},
}
S, W, M = tn.sensitivity, tn.sensitivity.worst_case, tn.mechanism


def _sensitivity() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for name in STATISTICS:
        more = MORE.get(name, {})
        cases[f"local {name}"] = lambda name=name, more=more: outcome(
            lambda: [
                S.local(name, ROWS, bounds=(0, 50), **more),
                S.local(name, ROWS[:5], bounds=(0, 50), **more),
            ]
        )
        cases[f"smooth {name}"] = lambda name=name, more=more: outcome(
            lambda: [S.smooth(name, ROWS, bounds=(0, 50), beta=b, **more) for b in ("1/3", 0.05, 2)]
        )
        cases[f"smooth peak {name}"] = lambda name=name, more=more: outcome(
            lambda: [
                (p.distance, p.local)
                for p in [S.smooth_peak(name, ROWS, bounds=(0, 50), beta=0.05, **more)]
            ]
        )
    cases["local slope"] = lambda: outcome(
        lambda: S.local("slope", PAIRS, bounds=((0, 10), (0, 10)), ridge=0.25)
    )
    cases["local correlation"] = lambda: outcome(
        lambda: S.local("correlation", PAIRS, bounds=((0, 10), (0, 10)))
    )
    cases["local mode"] = lambda: outcome(
        lambda: S.local("mode", WORDS, categories=["a", "b", "c"])
    )
    cases["admissible"] = lambda: each(
        beta=lambda: [S.admissible_beta(g, e) for g in (2, 3, 6) for e in (0.1, 1)],
        alpha=lambda: [S.admissible_alpha(g, e) for g in (2, 3, 6) for e in (0.1, 1)],
        dilation=lambda: [
            S.dilation_loss(3, beta="1/3"),
            S.dilation_loss(3, beta="1/3", integers=True),
        ],
        sliding=lambda: [S.sliding_loss(g, alpha="1/8") for g in (2, 3, 4)],
        admissible=lambda: [
            S.is_admissible(2, 1, alpha="1/8", beta="1/2"),
            S.is_admissible(2, 1, alpha="1/8", beta=1),
        ],
    )
    near = ("replace", "add-or-remove")
    cases["worst case"] = lambda: each(
        count=lambda: [W.count(neighbours=n, rows_per_unit=r) for n in near for r in (1, 5)],
        counts=lambda: [W.counts(neighbours=n, answers=10, answers_per_row=1) for n in near],
        total=lambda: [W.total(bounds=(-3, 10), neighbours=n) for n in near],
        public=lambda: W.total(bounds=(2, 10), neighbours="replace", rows_public=True),
        totals=lambda: [
            W.totals(bounds=[(0, 10), (-2, 3)], neighbours=n, together=t)
            for n in near
            for t in (True, False)
        ],
        mean=lambda: W.mean(bounds=(0, 100), rows=50, neighbours="replace"),
        variance=lambda: W.variance(bounds=(0, 10), rows=5, neighbours="replace"),
        median=lambda: [W.median(bounds=(0, 10), rows=r, neighbours="replace") for r in (4, 5)],
        order=lambda: W.order_statistic(bounds=(0, 10)),
    )
    return cases


def _mechanisms() -> dict[str, Case]:
    def released(*args: Any, **options: Any) -> Case:
        def call() -> Any:
            with entropy():
                found = M.individual(*args, **options)
            return {
                "value": found.value,
                "exact": found.exact,
                "certificate": certificate(found.certificate) if args[0] == "slope" else None,
                "text": lines(str(found)),
            }

        return lambda: outcome(call)

    def drawn(call: Any) -> Case:
        def with_entropy() -> Any:
            with entropy():
                return call()

        return lambda: outcome(with_entropy)

    cases: dict[str, Case] = {}
    for name in STATISTICS:
        more = MORE.get(name, {})
        cases[f"individual {name}"] = released(name, ROWS, bounds=(0, 50), epsilon=1, **more)
        cases[f"individual steps {name}"] = drawn(
            lambda name=name, more=more: M.individual_steps(
                name, sorted(ROWS), 0, 50, 1, **({"between": (5, 20)} if "low" in more else more)
            )
        )
    cases["individual, laplace on 0.1"] = released(
        "mean", ROWS, bounds=(0, 50), grid=0.1, epsilon=0.5, noise="laplace"
    )
    cases["individual slope"] = released(
        "slope", PAIRS, bounds=((0, 10), (0, 10)), grid=0.01, ridge=0.25, epsilon=1
    )
    cases["individual correlation"] = released(
        "correlation", PAIRS, bounds=((0, 10), (0, 10)), grid=0.01, epsilon=1
    )
    cases["individual mode"] = released("mode", WORDS, categories=["a", "b", "c"], epsilon=1)
    cases["individual mode, truncated"] = released(
        "mode", WORDS, categories=["a", "b", "c"], epsilon=1, truncated=True
    )
    for gamma in (2, 3, 6):
        cases[f"smooth release {gamma}"] = drawn(
            lambda gamma=gamma: [
                M.smooth_release("median", sorted(ROWS), 0, 50, 1, gamma, rows_public=True),
                M.smooth_release("max", sorted(ROWS), 0, 50, 1, gamma, rows_public=True),
                M.smooth_release(
                    "quantile", sorted(ROWS), 0, 50, 1, gamma, rows_public=True, q=0.75
                ),
            ]
        )
    cases["limits"] = lambda: [M.INDIVIDUAL_LIMITS, M.INDIVIDUAL_ASSUMES]
    cases["part"] = drawn(_part)
    return cases


def _part() -> Any:
    rows, total = M.Component("rows"), M.Component("total", "age", 0, 120)
    part = M.Part(
        "optimal",
        (rows,),
        tn.noise.DiscreteLaplace(sensitivity=1, epsilon=1),
        Fraction(1),
    )
    atoms = M.Atoms(rows=7, present={"age": 6}, total={"age": 200})
    return {
        "components": [rows.of(atoms), total.of(atoms)],
        "drawn": part.draw(5),
        "released": part.release([atoms, atoms]),
    }


def _taxonomies() -> dict[str, Case]:
    T = tn.Taxonomy
    made = {
        "nested": lambda: T.from_nested(JOBS),
        "flat": lambda: T.flat(["Sales", "Tech-support", "Farming"]),
        "edges": lambda: T.from_edges(
            [
                ("cat", "pet"),
                ("dog", "pet"),
                ("dog", "helper"),
                ("pet", "animal"),
                ("helper", "animal"),
            ],
            {"Katze": "cat", "Hund": "dog", "Tier": "animal"},
        ),
    }

    def told(taxonomy: Any) -> Any:
        names = list(taxonomy.categories)
        return each(
            text=lambda: str(taxonomy),
            categories=lambda: taxonomy.categories,
            concepts=lambda: taxonomy.concepts,
            root=lambda: taxonomy.root,
            digest=lambda: taxonomy.digest,
            diameter=lambda: (taxonomy.diameter, taxonomy.rational_diameter),
            boundaries=lambda: taxonomy.boundaries(),
            depth_first=lambda: taxonomy.depth_first,
            edges=lambda: taxonomy.to_edges(),
            nested=lambda: taxonomy.to_nested(),
            ancestors=lambda: {n: sorted(taxonomy.ancestors(n)) for n in names},
            parents=lambda: {n: sorted(taxonomy.parents(n)) for n in names},
            rank=lambda: {n: taxonomy.rank(n) for n in names},
            distances=lambda: [[taxonomy.distance(a, b) for a in names] for b in names],
            rational=lambda: [[taxonomy.rational_distance(a, b) for a in names] for b in names],
            jaccard=lambda: [[taxonomy.jaccard(a, b) for a in names] for b in names],
            marginality=lambda: [taxonomy.marginality(n, dict.fromkeys(names, 2)) for n in names],
            sensitivity=lambda: taxonomy.marginality_sensitivity,
            least=lambda: taxonomy.least_marginal({n: i + 1 for i, n in enumerate(names)}),
        )

    return {f"taxonomy {name}": lambda make=make: told(make()) for name, make in made.items()}


def _schemas() -> dict[str, Case]:
    columns = [
        tn.schema.DraftColumn(name="age", type="number", grid=1),
        tn.schema.DraftColumn(name="income", type="number", bounds=(0, 10), role="confidential"),
        tn.schema.DraftColumn(name="region", type="category", categories=["a", "b"]),
        tn.schema.DraftColumn(name="job", type="category"),
        tn.schema.DraftColumn(name="sick", type="boolean"),
        tn.schema.DraftColumn(name="born", type="date"),
        tn.schema.DraftColumn(name="id", type="identifier"),
    ]

    def told(name: str) -> Any:
        schema = tn.Schema.from_dict(SCHEMAS[name])
        return {
            "dict": schema.to_dict(),
            "identifiers": schema.identifiers,
            "confidential": schema.confidential,
            "quasi_identifiers": schema.quasi_identifiers,
            "without_role": schema.without_role,
            "private": schema.private,
            "steps": {
                column.name: [column.steps, plain_bounds(column)]
                for column in schema.columns.values()
                if isinstance(column, tn.schema.Bounded)
            },
            "replaced": schema.replace(table={"version": "2"}).digest,
            "budget": str(schema.budget),
            "protocol": str(schema.protocol),
        }

    def plain_bounds(column: Any) -> Any:
        return [column.bounds, column.from_steps(3), column.to_steps(column.from_steps(5))]

    return {
        "draft": lambda: tn.schema.draft(columns, name="people", source="x.csv").split("\n"),
        **{f"schema {name}": lambda name=name: told(name) for name in SCHEMAS},
    }


def _books() -> Any:
    L = tn.ledger
    made = L.Memory()

    def charge(epsilon: Any, **options: Any) -> Any:
        return L.Charge.of(epsilon=epsilon, **{"neighbours": "add-or-remove", **options})

    made.open_dataset(
        "d", 5, 2, neighbours="add-or-remove", total_delta=1e-6, individual=1, unit="record"
    )
    paid = made.reserve("d", "ann", charge(0.5), "k", L.digest("q"), asked="SELECT 1")
    made.commit(paid, b"7")
    again = made.reserve("d", "ann", charge(0.5), "k", L.digest("q"))
    lost = made.reserve("d", "bob", charge("1/3", delta=1e-7), None, L.digest("r"))
    made.abandon(lost, "no answer")
    free = made.reserve("d", "bob", charge(1), "z", L.digest("s"), cache_key="c")
    made.release_unread(free, "gone")
    for person in ("17", "18"):
        one = made.reserve("d", "ann", charge(0.25, person=person), None, L.digest(person))
        made.commit(one, b"x")
    own = made.reserve("d", "ann", charge(0.5), None, L.digest("i"), column="individual")
    made.commit(own, b"y")
    made.register_release("d", "a" * 64, method="swap")
    made.open_dataset("d", 6, 2, neighbours="replace", total_delta=1e-6, individual=1)
    return {
        "again": [again.answer, again.sequence],
        "balance": balance(made.balance()),
        "text": lines(str(made.balance("d"))),
        "entries": [entry_of(entry) for entry in made.entries()],
        "verified": [made.verify().ok, made.verify().entries],
        "digests": [L.digest("q"), L.digest({"a": [1, "x"]}), L.digest(None)],
        "charged": [
            L.charge_in("replace", "add-or-remove", 7),
            L.delta_in("replace", "add-or-remove", 10**9, 10**6),
        ],
        "has key": [made.has_key("d", "ann", "k"), made.has_key("d", "bob", "z")],
        "known": [made.known_as("D"), made.known_as("e"), made.datasets()],
    }


def entry_of(entry: Any) -> Any:
    """An entry without its moment and owner, and without its hash, which depends on it."""
    found = json.loads(entry.to_json())
    return {key: value for key, value in found.items() if key not in ("hash", "time", "owner")}


def _cases() -> dict[str, Case]:
    return {
        **_sensitivity(),
        **_mechanisms(),
        **_taxonomies(),
        **_schemas(),
        "books": _books,
    }


THEME = Theme("rooms", _cases())
