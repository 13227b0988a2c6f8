"""Questions and what they become, as text.

A block of a file has one or more questions of one meaning, each at the start of a line, and then
either what they become, a line `> part = value` for each part that is not empty, or `! reason` if
all of them are refused for that reason. A question goes on in lines that begin with a space.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from tenue.ask.question import GroupingSets, Question
from tenue.ask.sql.parse import parse_select
from tenue.errors import InvalidQuestion
from tenue.schema import Schema

HERE = Path(__file__).parent
CENSUS = Schema.load(HERE / "census.toml")


@dataclass(frozen=True)
class Block:
    name: str
    questions: tuple[str, ...]
    becomes: tuple[str, ...]


def blocks() -> list[Block]:
    found = []
    for file in sorted(HERE.glob("*.txt")):
        for number, text in enumerate(file.read_text().split("\n\n")):
            questions: list[str] = []
            becomes: list[str] = []
            for line in text.splitlines():
                if line.startswith((">", "!")):
                    becomes.append(line)
                elif line.startswith(" "):
                    questions[-1] += "\n" + line
                elif line and not line.startswith("#"):
                    questions.append(line)
            if questions:
                found.append(Block(f"{file.stem} {number}", tuple(questions), tuple(becomes)))
    return found


def described(question: Question | GroupingSets) -> tuple[str, ...]:
    parts = ((part.name, getattr(question, part.name)) for part in fields(question))
    shown = [(name, value) for name, value in parts if name != "table"]
    return tuple(f"> {name} = {value!r}" for name, value in shown if value not in ((), None))


def outcome(sql: str) -> tuple[str, ...]:
    try:
        return described(parse_select(sql, CENSUS))
    except InvalidQuestion as refusal:
        return (f"! {refusal.reason}",)


@pytest.mark.parametrize("block", blocks(), ids=lambda block: block.name)
def test_questions_become_what_the_text_says(block: Block) -> None:
    assert block.becomes, "the block does not say what its questions become"
    for question in block.questions:
        assert outcome(question) == block.becomes, question


@pytest.mark.parametrize("block", blocks(), ids=lambda block: block.name)
def test_one_meaning_has_one_text(block: Block) -> None:
    if not block.becomes[0].startswith("!"):
        assert len({parse_select(question, CENSUS).canonical for question in block.questions}) == 1


def test_different_blocks_have_different_texts() -> None:
    asked = [block for block in blocks() if not block.becomes[0].startswith("!")]
    texts = {block.becomes: parse_select(block.questions[0], CENSUS).canonical for block in asked}
    assert len(set(texts.values())) == len(texts)
    assert len(asked) > 40
