"""What is wrong with a schema file: all of it, gathered before anything is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import field

from ...errors import InvalidSchema, Refused, refuse
from ...frozen import dataclass
from ...screen.page import hanging
from .lines import Lines, Path

_LISTED = 20
_RULE = "A schema loads only without mistakes"


@dataclass(frozen=True)
class Mistake:
    """One thing to correct.

    `line` counts from 1, and is the section's line when a key is absent; it is None when there is
    no file. `where` is the key, such as `columns.income.bounds`.
    """

    line: int | None
    where: str
    what: str
    allowed: str
    fix: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what} {self.allowed} {self.fix}".removeprefix(": ")

    @property
    def place(self) -> str:
        """The line and the key, as far as there are any."""
        line = "" if self.line is None else f"line {self.line}"
        return ", ".join(filter(None, (line, self.where)))


@dataclasses.dataclass
class Mistakes:
    """A list of mistakes that grows while a file is read."""

    lines: Lines = field(default_factory=Lines)
    found: list[Mistake] = field(default_factory=list)

    def add(self, path: Path, what: str, allowed: str, fix: str, *, at: Path | None = None) -> None:
        """Notes a mistake in the key `path`, on the line of `at` if that is another."""
        said = Refused(what, allowed, fix)
        line = self.lines.of(path if at is None else at)
        self.found.append(Mistake(line, _name(path), said.what, said.allowed, said.fix))

    def add_refusal(self, path: Path, refused: Refused) -> None:
        """Notes what another room has refused."""
        self.add(path, refused.what, refused.allowed, refused.fix)

    def stop(self, file: str) -> None:
        """Refuses the file if anything was wrong with it."""
        if self.found:
            raise refusal(self.found, file)


def refusal(mistakes: Sequence[Mistake], file: str) -> Refused:
    """One refusal that says every mistake; its `mistakes` has them as records, by line."""
    ordered = tuple(sorted(mistakes, key=lambda mistake: mistake.line or 0))
    if len(ordered) == 1:
        only = ordered[0]
        return InvalidSchema(
            f"{', '.join(filter(None, (file, only.place)))}: {only.what}",
            only.allowed,
            only.fix,
            code="schema-mistakes",
            mistakes=ordered,
            file=file,
        )
    rules = {mistake.allowed for mistake in ordered}
    rule = rules.pop() if len(rules) == 1 else None  # what holds of all is said once
    lines = [
        str(mistake) if rule is None else f"{mistake.place}: {mistake.what} {mistake.fix}"
        for mistake in ordered[:_LISTED]
    ]
    if len(ordered) > _LISTED:
        lines.append(f"and {len(ordered) - _LISTED} more, which are told when these are corrected.")
    listed = "".join("\n" + hanging(line, "  * ") for line in lines)
    return refuse(
        "schema.schema-mistakes",
        mistakes=ordered,
        file=file,
        many=len(ordered),
        rule=rule or _RULE,
        listed=listed,
    )


def _name(path: Path) -> str:
    name = ""
    for part in path:
        name += f"[{part}]" if isinstance(part, int) else f".{part}"
    return name.removeprefix(".")
