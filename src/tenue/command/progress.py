"""What is shown while something takes longer than two seconds: its step and the time so far."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Self

PATIENCE = 2.0


class Waiting:
    """A bar on standard error, from the third second on and only for people who watch.

    Calling it with the name of a step moves the bar on.
    """

    def __init__(self, steps: int, patience: float = PATIENCE) -> None:
        self._steps = steps
        self._begun: list[str] = []
        self._bar: Any = None
        self._task: Any = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(patience, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def __call__(self, step: str) -> None:
        with self._lock:
            self._begun.append(step)
            if self._bar is not None:
                self._bar.update(self._task, description=step, completed=len(self._begun) - 1)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        with self._lock:
            if not console.is_terminal:
                return
            shown = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
            self._bar = Progress(*shown, console=console, transient=True)
            done = max(0, len(self._begun) - 1)
            step = self._begun[-1] if self._begun else ""
            self._task = self._bar.add_task(step, total=self._steps, completed=done)
            self._bar.start()
