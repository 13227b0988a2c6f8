"""The bar that is shown from the third second on."""

from __future__ import annotations

from typing import Any

import pytest

from tenue.command.progress import Waiting


def test_the_bar_waits_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[str, Any]] = []

    class Bar:
        def __init__(self, *columns: Any, **options: Any) -> None:
            shown.append(("made", options["transient"]))

        def add_task(self, step: str, total: int, completed: int) -> int:
            shown.append((step, completed))
            return 0

        def update(self, task: int, description: str, completed: int) -> None:
            shown.append((description, completed))

        def start(self) -> None:
            shown.append(("start", None))

        def stop(self) -> None:
            shown.append(("stop", None))

    monkeypatch.setattr("rich.progress.Progress", Bar)
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    with Waiting(steps=3, patience=1000) as waiting:
        waiting("read")
        assert shown == []
        waiting._show()
        waiting("evaluate")
    assert shown == [("made", True), ("read", 0), ("start", None), ("evaluate", 1), ("stop", None)]


def test_nobody_watching_sees_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rich.console.Console.is_terminal", False)
    with Waiting(steps=3, patience=1000) as waiting:
        waiting._show()
        waiting("read")
        assert waiting._bar is None
