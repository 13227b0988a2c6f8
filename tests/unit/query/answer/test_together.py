"""Answers that were asked together: what is shown of them."""

from __future__ import annotations

from fractions import Fraction

from tenue.query.answer.together import Answers
from tenue.query.question import Output
from unit.query.stated import COUNT, ONE_COUNT, answer, asked


def test_notebooks_get_escaped_tables_of_plans_and_answers() -> None:
    evil = asked(Output("<b>", COUNT))
    one = answer(evil, ((42,),))
    for shown in (one, one.plan, Answers([one, one], Fraction(1, 2), 0.25)):
        page = shown._repr_html_()
        assert page.startswith(("<table>", "<p>"))
        assert "&lt;b&gt;" in page
        assert "<b>" not in page
    assert "with 25% less variance" in Answers([one, one], Fraction(1), 0.25)._repr_html_()
    assert "discrete Laplace" in one.plan._repr_html_()


def test_what_is_said_of_every_answer_is_said_once() -> None:
    one, other = answer(ONE_COUNT, ((42,),)), answer(ONE_COUNT, ((7,),))
    said = str(Answers([one, other], Fraction(1), 0.5))
    assert said.count("within ±") == said.count("Cost:") == 1
    assert said.index("42") < said.index("7") < said.index("within ±") < said.index("Cost:")
    assert "for 2 answers together (discrete Laplace), with 50% less" in said
    assert str(Answers([one], Fraction(1, 2), 0.0)).endswith(
        "Cost: epsilon 0.5 (discrete Laplace)."
    )
