"""Answers and their certificates, with the operating system's entropy replaced (`kit.entropy`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tenue as tn
from golden.kit import Case, Theme, digest, entropy, lines, outcome, parsed
from golden.laws import each, posterior
from golden.plans import CENSUS, DERIVED, PEOPLE, VISITS, beliefs
from golden.tables import opened

P = tn.prior


class Restarting(tn.ledger.Memory):
    """A ledger after whose debit the replaced entropy begins anew.

    Before it, laws are tried out, and which of several is tried first is nobody's business.
    """

    def reserve(self, *args: Any, **options: Any) -> Any:
        reservation = super().reserve(*args, **options)
        entropy.restart()
        return reservation


def certificate(made: Any) -> dict[str, Any]:
    """All that a certificate tells."""
    return {
        "text": lines(str(made)),
        "html": digest(made.to_html()),
        "page": "as html" if made._repr_html_() == made.to_html() else made._repr_html_(),
        "json": parsed(made.to_json()),
        "again": tn.Certificate.from_json(made.to_json()) == made,
        "promise": str(made.promise),
        "sentence": made.promise.sentence(),
        "differential privacy": made.promise.is_differential_privacy,
    }


def _without_certificate(answer: Any) -> Any:
    """The JSON of an answer; its certificate, which has a place of its own, by its keys."""
    found = parsed(answer.to_json())
    if found["is"]["certificate"] == answer.certificate.to_dict():
        found["is"]["certificate"] = " ".join(["as the certificate:", *found["is"]["certificate"]])
    return found


def told(answer: Any) -> dict[str, Any]:
    """All that an answer tells, but its certificate."""
    return each(
        plan=lambda: lines(str(answer.plan)) if hasattr(answer, "posterior") else None,
        value=lambda: answer.value,
        exact=lambda: answer.exact,
        columns=lambda: answer.columns,
        interval=lambda: [answer.interval(level) for level in (0.5, 0.95)],
        expected_error=lambda: answer.expected_error,
        rank_error=lambda: answer.rank_error(0.95),
        mechanism=lambda: answer.mechanism,
        posterior=lambda: None if answer.posterior is None else posterior(answer.posterior),
        price=lambda: answer.price,
        delta=lambda: answer.delta,
        replayed=lambda: answer.replayed,
        text=lambda: lines(str(answer)),
        repr=lambda: "as text" if repr(answer) == str(answer) else lines(repr(answer)),
        html=lambda: lines(answer._repr_html_()),
        json=lambda: _without_certificate(answer),
        arrow=lambda: (str(answer.to_arrow().schema), answer.to_arrow().to_pydict()),
        pandas=lambda: answer.to_pandas(interval=0.9).to_csv(index=False).split("\n"),
        polars=lambda: str(answer.to_polars().schema),
    )


def numbers(answer: Any) -> dict[str, Any]:
    """What an answer says in numbers, and how it came by them."""
    return each(
        table=lambda: answer.to_pandas(interval=0.9).to_csv(index=False).split("\n")[:12],
        value=lambda: None if hasattr(answer, "to_pandas") else answer.value,
        expected_error=lambda: answer.expected_error,
        mechanism=lambda: answer.certificate.mechanism,
        posterior=lambda: str(answer.posterior),
        price=lambda: answer.price,
        replayed=lambda: answer.replayed,
    )


def full(answer: Any, data: Any) -> dict[str, Any]:
    """All that an answer tells, and what remains after it."""
    return {
        **told(answer),
        "certificate": certificate(answer.certificate),
        "budget": lines(str(data.budget)),
        "balance": balance(data.budget),
    }


def balance(found: Any) -> dict[str, Any]:
    """What was spent and what remains."""
    return {
        "spent": found.spent,
        "remaining": found.remaining,
        "statistical": found.statistical,
        "persons": found.persons,
        "spent_delta": found.spent_delta,
        "remaining_delta": found.remaining_delta,
        "individual": found.individual,
        "remaining_individual": found.remaining_individual,
        "releases": found.releases,
        "protocol": found.protocol,
        "analysts": [[q.analyst, q.total, q.spent, q.individual] for q in found.analysts],
    }


def asked(name: str, sql: str, seed: int = 0, shown: bool = False, **options: Any) -> Any:
    """One question to a new ledger; `shown`: with every rendering of the answer."""
    with opened(name, ledger=Restarting()) as data:

        def ask() -> Any:
            with entropy(seed):
                answer = data.ask(sql, **options)
            return full(answer, data) if shown else numbers(answer)

        return outcome(ask)


def journey(name: str, steps: Callable[[Any], list[Any]], analyst: str | None = None) -> Any:
    """Several questions, from one ledger."""
    with opened(name, analyst=analyst, ledger=Restarting()) as data:
        return {"steps": steps(data), "budget": lines(str(data.budget)), **_written(data)}


def _written(data: Any) -> dict[str, Any]:
    entries = list(data.ledger.entries())
    return {
        "balance": balance(data.budget),
        "entries": [entry.kind for entry in entries],
        "verified": bool(data.ledger.verify()),
    }


def step(call: Callable[[], Any], seed: int = 0) -> Any:
    """One step of a journey."""

    def stepped() -> Any:
        with entropy(seed):
            found = call()
        return numbers(found)

    return outcome(stepped)


def many(name: str, questions: list[str], **options: Any) -> Any:
    """Several questions at one price."""
    with opened(name, ledger=Restarting()) as data:

        def ask() -> Any:
            with entropy():
                answers = data.ask_many(questions, **options)
            return {
                "price": answers.price,
                "saved": answers.saved,
                "text": lines(str(answers)),
                "repr": "as text" if repr(answers) == str(answers) else lines(repr(answers)),
                "html": lines(answers._repr_html_()),
                "json": list(parsed(answers.to_json())["is"]),
                "each": [numbers(one) for one in answers],
                "certificate": certificate(answers[0].certificate),
                "balance": balance(data.budget),
            }

        return outcome(ask)


def _free(data: Any) -> list[Any]:
    sql = CENSUS[2]
    return [
        step(lambda: data.ask(sql, epsilon=0.5), 1),
        step(lambda: data.ask(sql, epsilon=0.5), 2),
        step(
            lambda: data.ask("select count(*) from CENSUS where 50000 < income", epsilon="1/2"), 3
        ),
        step(lambda: data.ask(sql, epsilon=0.5, fresh=True), 4),
        step(lambda: data.ask(sql, epsilon=0.5), 5),
        step(lambda: data.ask(sql, epsilon=0.25, key="k1"), 6),
        step(lambda: data.ask(sql, epsilon=0.25, key="k1"), 7),
        step(lambda: data.ask(CENSUS[4], epsilon=0.25, key="k1"), 8),
    ]


def _individually(data: Any) -> list[Any]:
    sql = "SELECT MEDIAN(income) FROM census"
    return [
        step(lambda: data.ask(sql, epsilon=0.5, individual=True), 1),
        step(lambda: data.ask(sql, epsilon=0.25, individual=True), 2),
        step(lambda: data.ask(sql, epsilon=1, individual=True), 3),
        step(lambda: data.ask(sql, epsilon=2, individual=True), 4),
        step(lambda: data.ask("SELECT MAX(age) FROM census", epsilon=1, individual=True), 5),
    ]


def _quota(data: Any) -> list[Any]:
    return [
        step(lambda: data.ask(CENSUS[2], epsilon=9), 1),
        step(lambda: data.ask(CENSUS[4], epsilon=2), 2),
        step(lambda: data.ask(CENSUS[4], epsilon=1), 3),
        step(lambda: data.ask(CENSUS[6], epsilon=0.001), 4),
    ]


def _believed(data: Any) -> list[Any]:
    sql = f"{CENSUS[0]} WHERE employed"
    return [
        step(lambda: data.ask(sql, epsilon=0.1, prior=P.Binomial(240, 0.6)), 1),
        step(lambda: data.ask(sql, epsilon=0.1, prior=P.Binomial(240, 0.5)), 2),
        step(lambda: data.ask(sql, epsilon=0.1), 3),
    ]


def _persons(data: Any) -> list[Any]:
    belief = P.Categorical({True: "0.3", False: "0.7"})
    one = "SELECT sick FROM people WHERE id = {}"
    return [
        step(lambda: data.ask(one.format(17), epsilon=1, prior=belief), 1),
        step(lambda: data.ask(one.format(18), epsilon=1, prior=belief), 2),
        step(lambda: data.ask(one.format(999), epsilon=1, prior=belief), 3),
        step(lambda: data.ask(one.format(17), epsilon=1, prior=belief), 4),
        step(lambda: data.ask(one.format(17), epsilon=1, prior=belief, delta=1e-6), 5),
        step(lambda: data.ask(PEOPLE[0], epsilon=1), 6),
    ]


def _fixed(data: Any) -> list[Any]:
    return [
        step(lambda: data.ask(CENSUS[2]), 1),
        step(lambda: data.ask(CENSUS[30]), 2),
        step(lambda: data.ask(CENSUS[6]), 3),
        step(lambda: data.ask(CENSUS[2]), 4),
        step(lambda: data.ask_many([CENSUS[2]], epsilon=1), 5),
    ]


def estimated(name: str, sql: str, belief: Any, **options: Any) -> Any:
    """An answer, and what it tells somebody who believed something before."""
    with opened(name, ledger=Restarting()) as data:
        with entropy(3):
            answer = data.ask(sql, **options)
        return outcome(lambda: posterior(answer.estimate(belief)))


SHOWN = {
    "added: SELECT COUNT(*) FROM census WHERE income > 50000; {'epsilon': 2}",
    "added: SELECT COUNT(*) AS n, SUM(income) AS s, AVG(age) AS a FROM census; {'epsilon': 2}",
    "added: SELECT MEDIAN(age) AS m, COUNT(*) AS n FROM census; {'epsilon': 4, 'interval': 0.9}",
    "replaced: SELECT AVG(income) FROM census; {'epsilon': 1, 'individual': True}",
    "visits: SELECT SUM(cost) FROM visits; {'epsilon': 2}",
    "one person, two columns",
}
"""Questions whose answers are recorded in every rendering."""


def _questions() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    plan: list[tuple[str, str, dict[str, Any]]] = [
        *(("added", sql, {"epsilon": 2}) for sql in CENSUS),
        *(("replaced", sql, {"epsilon": 2}) for sql in CENSUS[:1] + CENSUS[6:31:4]),
        *(("added", sql, {"epsilon": 1}) for sql in DERIVED),
        *(("visits", sql, {"epsilon": 2}) for sql in VISITS),
        *(("people", sql, {"epsilon": 2}) for sql in PEOPLE),
        *(("exchanged", sql, {"epsilon": 2}) for sql in PEOPLE),
        ("added", CENSUS[2], {"accuracy": ("interval", 0.95, 10)}),
        ("visits", VISITS[3], {"accuracy": ("interval", 0.95, 5000)}),
        ("added", CENSUS[6], {"epsilon": 0.5, "minimise": "absolute-error"}),
        ("added", CENSUS[11], {"epsilon": 0.5, "minimise": ("interval", 0.9)}),
        ("added", CENSUS[15], {"epsilon": 4, "interval": 0.95}),
        ("added", CENSUS[16], {"epsilon": 4, "interval": 0.9}),
        ("replaced", CENSUS[19], {"epsilon": 4, "interval": 0.95}),
        ("added", CENSUS[35], {"epsilon": 8, "interval": 0.95}),
        ("visits", VISITS[5], {"epsilon": 4, "interval": 0.9}),
        ("added", CENSUS[6], {"epsilon": 1, "mechanism": "discrete Laplace"}),
        ("visits", VISITS[3], {"epsilon": 1, "mechanism": "optimal"}),
        ("replaced", CENSUS[15], {"epsilon": 1, "mechanism": "smooth sensitivity 3"}),
        ("replaced", CENSUS[17], {"epsilon": 1, "mechanism": "smooth sensitivity 2"}),
        ("added", CENSUS[15], {"epsilon": 1, "individual": True}),
        ("replaced", CENSUS[8], {"epsilon": 1, "individual": True}),
        ("replaced", CENSUS[17], {"epsilon": 1, "individual": True}),
        ("replaced", CENSUS[29], {"epsilon": 1, "individual": True}),
        ("visits", VISITS[5], {"epsilon": 1, "individual": True}),
        ("fixed", CENSUS[2], {}),
        ("fixed", CENSUS[10], {}),
        ("fixed", CENSUS[30], {}),
    ]
    for name, sql, options in plan:
        title = f"{name}: {sql}; {options}"
        cases[title] = lambda name=name, sql=sql, options=options, title=title: asked(
            name, sql, shown=title in SHOWN, **options
        )
    return cases


def _cases() -> dict[str, Case]:
    cases = _questions()
    for title, (name, sql, options) in beliefs().items():
        cases[f"belief: {title}"] = lambda name=name, sql=sql, options=options, title=title: asked(
            name, sql, 5, title in SHOWN, **options
        )
    counts = [f"{CENSUS[0]} WHERE income > {20_000 * i}" for i in range(6)]
    cases |= {
        "many: counts": lambda: many("added", counts, epsilon=1),
        "many: mixed": lambda: many(
            "added", [CENSUS[2], CENSUS[6], CENSUS[15], CENSUS[30]], epsilon=2
        ),
        "many: persons": lambda: many("visits", list(VISITS[:4]), epsilon=2),
        "many: absolute error": lambda: many(
            "added", counts[:3], epsilon=1, minimise="absolute-error"
        ),
        "many: one": lambda: many("added", counts[:1], epsilon=1),
        "many: free": lambda: many("replaced", [CENSUS[0]], epsilon=1),
        "journey: free and keyed": lambda: journey("added", _free),
        "journey: individual, holder": lambda: journey("added", _individually),
        "journey: individual, analyst": lambda: journey("added", _individually, "ann"),
        "journey: quota": lambda: journey("added", _quota, "ann"),
        "journey: believed": lambda: journey("added", _believed),
        "journey: persons": lambda: journey("people", _persons),
        "journey: persons, exchanged": lambda: journey("exchanged", _persons),
        "journey: fixed noise": lambda: journey("fixed", _fixed),
        "estimate: count": lambda: estimated("added", CENSUS[2], P.Binomial(240, 0.6), epsilon=0.2),
        "estimate: count, replaced": lambda: estimated(
            "replaced", CENSUS[2], P.Binomial(240, 0.6), epsilon=0.2
        ),
        "estimate: sum": lambda: estimated(
            "added", "SELECT SUM(age) FROM census", P.Normal(10_000, 900, 0, 24_000), epsilon=0.2
        ),
        "estimate: optimal sum": lambda: estimated(
            "added", CENSUS[6], P.Uniform(0, 40_000_000), epsilon=0.2
        ),
        "estimate: mean": lambda: estimated("added", CENSUS[8], P.Uniform(0, 200_000), epsilon=1),
        "estimate: median": lambda: estimated("added", CENSUS[15], P.Uniform(0, 9), epsilon=1),
        "estimate: two counts": lambda: estimated(
            "added", CENSUS[10], P.Binomial(240, 0.6), epsilon=1
        ),
        "estimate: smooth": lambda: estimated(
            "replaced",
            CENSUS[15],
            P.Uniform(0, 200_000),
            epsilon=1,
            mechanism="smooth sensitivity 3",
        ),
        "estimate: fixed noise": lambda: estimated("fixed", CENSUS[2], P.Binomial(240, 0.6)),
    }
    for text, made in {
        "Pure(0.5)": tn.Pure(0.5),
        "Approximate(1, 1e-6)": tn.Approximate(1, 1e-6),
        "Individual(2)": tn.Individual(2),
        "KAnonymity(5)": tn.KAnonymity(5),
        "ProbabilisticKAnonymity(12)": tn.ProbabilisticKAnonymity(12),
        "TCloseness(2)": tn.TCloseness(2),
    }.items():
        cases[f"promise {text}"] = lambda made=made: {
            "text": str(made),
            "repr": repr(made),
            "sentence": made.sentence(),
            "parameters": made.parameters(),
            "dict": made.to_dict(),
            "again": tn.promise.promise_from(made.to_dict()) == made,
        }
    return cases


THEME = Theme("answers", _cases(), exact=False)
