"""What an analyst who believes something is told: the ways to answer, and then the answer.

Of a refined answer nothing leaves but the prior, one sample, the error averaged over the prior and
the posterior given the sample: the refined law, its interval and its error are the truth in
disguise.
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from ...estimate import Opinion, Posterior, refined
from ...estimate.refined import MOST_WITH_DELTA
from ...prior.belief import Finite, shown_value
from ...prior.counts import Counts
from ...privacy import Certificate
from ...privacy.loss import EpsilonDelta
from ...text import exactly, facts, html_facts, notes, paragraphs, readable, sentence, text_table
from ..answer import Answer, cost
from ..plan.plan import Plan, shown
from ..plan.truncation import NOT_COVERED, Limit
from ..question import Question
from .check_prior import Personal

REFINEMENT = "knowledge refinement"


@dataclass(frozen=True)
class Way:
    """One way to answer, and how far off it is on average over the prior.

    expected_error: the mean distance from the truth; None where it depends on rows.
    noise: the plan of the noise, for a way that adds some.
    bayes: whether Bayes' rule is applied to the noisy number.
    """

    mechanism: str
    expected_error: float | None
    noise: Plan | None = field(default=None, repr=False)
    bayes: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {"mechanism": self.mechanism, "expected_error": self.expected_error}


@dataclass(frozen=True, repr=False)
class BeliefPlan:
    """Every way to answer a question about which something is believed. Reads no rows.

    Attributes
        kind: "individual" or "statistical"; the question decides, never whoever asks.
        stated, prior: the belief as it was given, and on the grid of the answer.
        candidates: with their errors averaged over the prior, exact up to rounding; for priors with
            very many points to two digits or more, or the least bound that is known.
        chosen: the way with the least error. reason: why.
        expected_error: that of the chosen way.
        without: the error of who does not ask: of the prior's median, or of a draw of the prior
            where that has none.
        guess: about one person, the error of the best guess from the prior, where that is known.
        wrong: whether an error is the probability of another value, as for categories.
        limits: what the chosen way may cut of each person; the truth is then what counts.
    """

    kind: Literal["individual", "statistical"]
    question: Personal | Question
    sql: str
    names: tuple[str, ...]
    neighbours: str
    unit: str
    stated: Any
    prior: Any
    distance: Any
    price: EpsilonDelta
    candidates: tuple[Way, ...]
    chosen: Way
    reason: str
    without: float | None
    guess: float | None = None
    wrong: bool = False
    limits: tuple[Limit, ...] = ()

    @property
    def epsilon(self) -> Fraction:
        return self.price.epsilon

    @property
    def delta(self) -> Fraction:
        return self.price.delta

    @property
    def expected_error(self) -> float | None:
        return self.chosen.expected_error

    @property
    def cut(self) -> list[str]:
        """What may be cut, as a note; none if nothing can be."""
        if not self.limits:
            return []
        words = ", and ".join(limit.words for limit in self.limits)
        of = "Prior, posterior and errors are about what counts."
        return [f"{sentence(words)}; {NOT_COVERED}. {of}"]

    @property
    def for_the_ledger(self) -> str:
        """The question as the ledger shows it: whom a question is about is left out."""
        if not isinstance(self.question, Personal):
            return self.sql
        columns = ", ".join(self.question.columns)
        return f"SELECT {columns} FROM {self.question.table} WHERE {self.question.unit} = …"  # noqa: S608

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.sql,
            "kind": self.kind,
            "epsilon": exactly(self.epsilon),
            "delta": exactly(self.delta),
            "neighbours": self.neighbours,
            "unit": self.unit,
            "limits": [limit.to_dict() for limit in self.limits],
            "chosen": self.chosen.to_dict(),
            "candidates": [way.to_dict() for way in self.candidates],
            "reason": self.reason,
            "prior_alone": self.without,
            "best_guess": self.guess,
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def _rows(self) -> list[tuple[str, str, str]]:
        rows = [
            ("→" if way is self.chosen else "", way.mechanism, shown(way.expected_error))
            for way in self.candidates
        ]
        if self.without is not None:
            guessed = any(way.bayes for way in self.candidates)
            name = "the prior alone" if guessed else "a draw of the prior"
            rows.append(("", name, shown(self.without)))
        if self.guess is not None:
            rows.append(("", "the best guess from the prior", shown(self.guess)))
        return rows

    @property
    def measured(self) -> str:
        """What the errors are."""
        return ("chance of another value" if self.wrong else "mean |error|") + " under the prior"

    def _head(self) -> str:
        about = "about one person" if self.kind == "individual" else "a statistic"
        delta = f", delta {float(self.delta):.3g}" if self.delta else ""
        twice = self.kind == "individual" and self.neighbours == "replace"
        price = f" (costs {exactly(2 * self.epsilon)})" if twice else ""
        return (
            f"{about}, epsilon {exactly(self.epsilon)}{price}{delta}, "
            f"neighbours {self.neighbours}, unit {self.unit}, prior {self.stated!r}"
        )

    def _foot(self) -> str:
        twice = ""
        if self.kind == "individual" and self.neighbours == "replace":
            twice = " It is charged twice: to replace a person is to remove one and add another."
        smaller = " The errors are those without delta, which makes them smaller."
        return f"{self.reason}{twice}{smaller if self.delta else ''}"

    def __str__(self) -> str:
        lines = text_table([("", "mechanism", self.measured), *self._rows()], left=2)
        return "\n".join([self.sql, self._head(), "", *lines, *notes([*self.cut, self._foot()])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        )
        return (
            f"<p><code>{html.escape(self.sql)}</code><br>{html.escape(self._head())}</p>"
            "<table><thead><tr><th></th><th>mechanism</th>"
            f"<th>{self.measured}</th></tr></thead><tbody>{body}</tbody></table>"
            + paragraphs([*self.cut, self._foot()])
        )


def _few_points(belief: Any) -> bool:
    if isinstance(belief, Counts):
        return belief.n < MOST_WITH_DELTA
    return isinstance(belief, Finite) and len(belief.values) <= MOST_WITH_DELTA


@dataclass(frozen=True, repr=False)
class Believed:
    """The answer to a question about which something was believed.

    Attributes
        value: about one statistic the posterior median, which has the least mean error; about one
            person, or several values, the sample of the refined prior. A dict by name where several
            values were asked for.
        limits: what may have been cut of each person; posterior and error are about what counts.
            Empty where nothing can be cut.
        sample: what was drawn from the refined prior; None where noise was chosen.
        posterior: what the analyst may conclude, for free: a `Posterior` about a number, an
            `Opinion` about anything else; about a person, given that the person is there, with one
            row. None after noise that Bayes' rule cannot be applied to, and with delta for a prior
            of more than 512 points.
        mechanism, expected_error: as planned; the error is averaged over the prior.
        price, delta: what was debited now.
        certificate: what is promised.
        replayed: whether it is a stored answer.
        noisy: the noisy answer, where noise was chosen.
    """

    plan: BeliefPlan
    certificate: Certificate
    price: Fraction
    delta: Fraction = Fraction(0)
    replayed: bool = False
    sample: Any = None
    noisy: Answer | None = None

    @property
    def limits(self) -> tuple[Limit, ...]:
        return self.plan.limits

    @property
    def mechanism(self) -> str:
        return self.plan.chosen.mechanism

    @property
    def expected_error(self) -> float | None:
        return self.plan.expected_error

    @cached_property
    def posterior(self) -> Posterior | Opinion | None:
        if self.noisy is not None:
            return self.noisy.estimate(self.plan.prior) if self.plan.chosen.bayes else None
        if self.plan.delta and not _few_points(self.plan.prior):
            return None
        found = refined(
            self.sample,
            self.plan.prior,
            self.plan.epsilon,
            kind=self.plan.kind,
            distance=self.plan.distance,
            delta=self.plan.delta,
        )
        if isinstance(found, Opinion) and len(self.plan.names) > 1:
            return replace(found, names=self.plan.names)
        return found

    @property
    def value(self) -> Any:
        if self.plan.chosen.bayes and isinstance(self.posterior, Posterior):
            return self.posterior.median
        if self.noisy is not None:
            return self.noisy.value
        if len(self.plan.names) == 1:
            return shown_value(self.sample)
        return dict(zip(self.plan.names, shown_value(self.sample), strict=True))

    def to_dict(self) -> dict[str, Any]:
        found = self.posterior
        after: dict[str, Any] | None = None
        if isinstance(found, Posterior):
            low, high = found.interval(Fraction(19, 20))
            after = {"mean": found.mean, "median": found.median, "interval_95": [low, high]}
        elif found is not None:
            after = {
                "most_likely": found.mode,
                "mass": found.mass(found.mode),
                "masses": [[shown_value(value), mass] for value, mass in found.masses.items()],
            }
        return {
            "question": self.plan.sql,
            "value": self.value,
            "posterior": after,
            "expected_error": self.expected_error,
            "limits": [limit.to_dict() for limit in self.limits],
            "price": exactly(self.price),
            "delta": exactly(self.delta),
            "replayed": self.replayed,
            "mechanism": self.mechanism,
            "sample": None if self.noisy is not None else shown_value(self.sample),
            "noisy": None if self.noisy is None else self.noisy.value,
            "certificate": self.certificate.to_dict(),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def _lines(self) -> list[tuple[str, str]]:
        """The value and all that may be said about it, as names and texts."""
        value = self.value
        pairs = value.items() if isinstance(value, dict) else [(self.plan.names[0], value)]
        lines = [(name, readable(one)) for name, one in pairs]
        found = self.posterior
        if isinstance(found, Posterior):
            low, high = (readable(end) for end in found.interval(Fraction(19, 20)))
            lines.append(("posterior", f"95 % between {low} and {high}"))
        elif found is not None:
            for place, (name, share) in enumerate(found.likeliest()):
                lines.append(("" if place else "posterior", f"{share:>6}  {name}"))
        if self.plan.chosen.bayes:
            if self.noisy is not None:
                lines.append(("the noisy answer", readable(self.noisy.value)))
            else:
                lines.append(("the sample", readable(shown_value(self.sample))))
        lines.append((self.plan.measured, shown(self.expected_error)))
        return lines

    def _note(self, word: str) -> str:
        delta = f", delta {float(self.delta):.3g}" if self.delta else ""
        said = cost(f"{word}{exactly(self.price)}{delta}", self.mechanism, self.replayed)
        if self.noisy is None and not self.plan.chosen.bayes:
            return f"A sample of your prior, moved towards the truth.\n{said}"
        return said

    def __str__(self) -> str:
        cut = notes(self.plan.cut)
        return "\n".join([*facts(self._lines()), *cut, "", self._note("epsilon ")])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        rows = html_facts(self._lines())
        return f"<table><tbody>{rows}</tbody></table>" + paragraphs(
            [*self.plan.cut, self._note("ε = ")]
        )
