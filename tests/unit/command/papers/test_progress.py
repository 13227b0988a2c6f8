from __future__ import annotations

import io

from tenue.command.papers.progress import line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_how_far_it_is_and_nothing_in_the_end() -> None:
    seen = Terminal()
    tell = line(seen)
    assert tell is not None
    tell("4.1", 0, 2)
    assert "0/2  4.1" in seen.getvalue()
    tell("4.2", 1, 2)
    assert seen.getvalue().endswith("\r\x1b[K")
    assert "██████████░░░░░░░░░░ 1/2" in seen.getvalue()


def test_a_file_gets_no_line() -> None:
    assert line(io.StringIO()) is None
