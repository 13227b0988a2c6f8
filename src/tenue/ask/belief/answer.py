"""The plan and the answer of a question with a prior.

A refined answer contains only the prior, one sample, the error averaged over the prior and the
posterior given the sample: the refined law, its interval and its error would reveal the truth.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from ...estimate import Opinion, Posterior, refined
from ...estimate.posterior import Conflict
from ...estimate.refined import MOST_WITH_DELTA
from ...prior.belief import Finite, shown_value
from ...prior.counts import Counts
from ...privacy import Certificate
from ...privacy.loss import EpsilonDelta
from ...text import (
    escaped,
    exactly,
    facts,
    html_facts,
    html_table,
    notes,
    paragraphs,
    readable,
    sentence,
    text_table,
)
from ..aggregates.reading import SHOWN_LEVEL
from ..answer import Answer, Earlier, cost
from ..cells import Shown
from ..plan.plan import Plan, shown
from ..plan.truncation import NOT_COVERED, Limit
from ..question import Question
from .check_prior import Personal

REFINEMENT = "knowledge refinement"


@dataclass(frozen=True)
class BeliefCandidate:
    """One admissible way to answer, with its mean error under the prior.

    expected_error: the mean distance from the truth; None where it depends on rows.
    noise: the plan of the noise; None for refinement.
    bayes: whether Bayes' rule is applied to the noisy number.
    """

    mechanism: str
    expected_error: float | None
    noise: Plan | None = field(default=None, repr=False)
    bayes: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {"mechanism": self.mechanism, "expected_error": self.expected_error}


@dataclass(frozen=True, repr=False)
class BeliefPlan(Shown):
    """The candidates of a question with a prior, and the chosen one. Reads no rows.

    Attributes
        kind: "individual" or "statistical"; the question decides, not the analyst.
        stated, prior: the prior as it was given, and on the grid of the answer.
        candidates: with their errors averaged over the prior, exact up to rounding; for priors with
            very many points to two digits or more, or the least known bound.
        chosen: the candidate with the least error. reason: why.
        expected_error: the error of the chosen candidate.
        without: the error without asking: of the prior's median, or of a draw of the prior where
            that has none.
        guess: about one person, the error of the best guess from the prior, where that is known.
        wrong: whether an error is the probability of another value, as for categories.
        limits: the contribution limits of the chosen candidate; the truth is then what counts.
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
    candidates: tuple[BeliefCandidate, ...]
    chosen: BeliefCandidate
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
    def limit_notes(self) -> list[str]:
        """The limits that may truncate, as a note; none if nothing can be truncated."""
        if not self.limits:
            return []
        words = ", and ".join(limit.words for limit in self.limits)
        of = "Prior, posterior and errors are about what counts."
        return [f"{sentence(words)}; {NOT_COVERED}. {of}"]

    @property
    def for_the_ledger(self) -> str:
        """The question as the ledger shows it, without the person whom it is about."""
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
            "candidates": [one.to_dict() for one in self.candidates],
            "reason": self.reason,
            "prior_alone": self.without,
            "best_guess": self.guess,
        }

    def _table(self) -> list[list[str]]:
        table = [["", "mechanism", self.measured]]
        table += [
            ["→" if one is self.chosen else "", one.mechanism, shown(one.expected_error)]
            for one in self.candidates
        ]
        if self.without is not None:
            median = any(one.bayes for one in self.candidates)
            name = "the prior alone" if median else "a draw of the prior"
            table.append(["", name, shown(self.without)])
        if self.guess is not None:
            table.append(["", "the best guess from the prior", shown(self.guess)])
        return table

    @property
    def measured(self) -> str:
        """The measure of the errors."""
        return ("chance of another value" if self.wrong else "mean |error|") + " under the prior"

    @property
    def _charged_twice(self) -> bool:
        return self.kind == "individual" and self.neighbours == "replace"

    def _head(self) -> str:
        about = "about one person" if self.kind == "individual" else "a statistic"
        delta = f", delta {float(self.delta):.3g}" if self.delta else ""
        price = f" (costs {exactly(2 * self.epsilon)})" if self._charged_twice else ""
        return (
            f"{about}, epsilon {exactly(self.epsilon)}{price}{delta}, "
            f"neighbours {self.neighbours}, unit {self.unit}, prior {self.stated!r}"
        )

    def _notes(self) -> list[str]:
        reason = self.reason
        if self._charged_twice:
            reason += " It is charged twice: to replace a person is to remove one and add another."
        if self.delta:
            reason += " The errors are those without delta, which makes them smaller."
        return [*self.limit_notes, reason]

    def __str__(self) -> str:
        lines = text_table(self._table(), left=2)
        return "\n".join([self.sql, self._head(), "", *lines, *notes(self._notes())])

    def _repr_html_(self) -> str:
        head = f"<p><code>{escaped(self.sql)}</code><br>{escaped(self._head())}</p>"
        return head + html_table(self._table(), after=self._notes())


def _few_points(belief: Any) -> bool:
    if isinstance(belief, Counts):
        return belief.n < MOST_WITH_DELTA
    return isinstance(belief, Finite) and len(belief.values) <= MOST_WITH_DELTA


@dataclass(frozen=True, repr=False)
class Believed(Shown):
    """The answer to a question with a prior.

    Attributes
        value: about one statistic the posterior median, which has the least mean error; about one
            person, or several values, the sample of the refined prior. A dict by name where several
            values were asked for.
        limits: the contribution limits that may have truncated the truth; posterior and error are
            about what counts. Empty where nothing can be truncated.
        sample: a draw of the refined prior; None where noise was chosen.
        posterior: by post-processing, a `Posterior` about a number, an `Opinion` about anything
            else; about a person, given that the person is there, with one row. None after noise
            that Bayes' rule cannot be applied to, and with delta for a prior of more than 512
            points.
        mechanism, expected_error: as planned; the error is averaged over the prior.
        price, delta: what was debited now.
        certificate: what is promised.
        replayed: whether it is a stored answer.
        noisy: the noisy answer, where noise was chosen.
        conflict: how the prior and the noisy answer disagree; None if they do not, or if there is
            no noisy answer that could be compared.
        earlier: as of an `Answer`.
    """

    plan: BeliefPlan
    certificate: Certificate
    price: Fraction
    delta: Fraction = Fraction(0)
    replayed: bool = False
    sample: Any = None
    noisy: Answer | None = None
    earlier: Earlier | None = None

    def _of_earlier_rows(self, earlier: Earlier) -> Believed:
        return replace(self, earlier=earlier)

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
        posterior = refined(
            self.sample,
            self.plan.prior,
            self.plan.epsilon,
            kind=self.plan.kind,
            distance=self.plan.distance,
            delta=self.plan.delta,
        )
        if isinstance(posterior, Opinion) and len(self.plan.names) > 1:
            return replace(posterior, names=self.plan.names)
        return posterior

    @property
    def conflict(self) -> Conflict | None:
        return self.posterior.conflict if isinstance(self.posterior, Posterior) else None

    @property
    def caveats(self) -> list[str]:
        """What no rendering may leave out: limits that may have truncated the truth, and a prior
        that disagrees with the answer."""
        conflict = [] if self.conflict is None else [str(self.conflict)]
        earlier = [] if self.earlier is None else [str(self.earlier)]
        return [*earlier, *conflict, *self.plan.limit_notes]

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
        posterior, after = self.posterior, dict[str, Any]()
        if isinstance(posterior, Posterior):
            ends = list(posterior.interval(SHOWN_LEVEL))
            after = {"mean": posterior.mean, "median": posterior.median, "interval_95": ends}
        elif posterior is not None:
            after = {
                "most_likely": posterior.mode,
                "mass": posterior.mass(posterior.mode),
                "masses": [[shown_value(value), mass] for value, mass in posterior.masses.items()],
            }
        return {
            "question": self.plan.sql,
            "value": self.value,
            "posterior": after or None,
            "expected_error": self.expected_error,
            "limits": [limit.to_dict() for limit in self.limits],
            **({} if self.conflict is None else {"conflict": self.conflict.to_dict()}),
            "price": exactly(self.price),
            "delta": exactly(self.delta),
            "replayed": self.replayed,
            **({} if self.earlier is None else {"earlier": self.earlier.to_dict()}),
            "mechanism": self.mechanism,
            "sample": None if self.noisy is not None else shown_value(self.sample),
            "noisy": None if self.noisy is None else self.noisy.value,
            "certificate": self.certificate.to_dict(),
        }

    def _lines(self) -> list[tuple[str, str]]:
        value, posterior = self.value, self.posterior
        pairs = value.items() if isinstance(value, dict) else [(self.plan.names[0], value)]
        lines = [(name, readable(one)) for name, one in pairs]
        if isinstance(posterior, Posterior):
            low, high = map(readable, posterior.interval(SHOWN_LEVEL))
            lines.append(("posterior", f"95 % between {low} and {high}"))
        elif posterior is not None:
            for index, (name, share) in enumerate(posterior.likeliest()):
                lines.append(("" if index else "posterior", f"{share:>6}  {name}"))
        if self.plan.chosen.bayes:
            if self.noisy is not None:
                lines.append(("the noisy answer", readable(self.noisy.value)))
            else:
                lines.append(("the sample", readable(shown_value(self.sample))))
        lines.append((self.plan.measured, shown(self.expected_error)))
        return lines

    def _cost(self, word: str) -> str:
        delta = f", delta {float(self.delta):.3g}" if self.delta else ""
        paid = cost(f"{word}{exactly(self.price)}{delta}", self.mechanism, self.replayed)
        if self.noisy is None and not self.plan.chosen.bayes:
            return f"A sample of your prior, moved towards the truth.\n{paid}"
        return paid

    def __str__(self) -> str:
        return "\n".join([*facts(self._lines()), *notes(self.caveats), "", self._cost("epsilon ")])

    def _repr_html_(self) -> str:
        table = f"<table><tbody>{html_facts(self._lines())}</tbody></table>"
        return table + paragraphs([*self.caveats, self._cost("ε = ")])
