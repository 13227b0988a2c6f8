"""Runs all that draws again and again: `.venv/bin/python tests/again.py 20`.

First the tests that draw the system's bits, each time anew. Then every example of the documents
with other bits each time, for readers run them with bits of their own. Stops at the first failure.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
MARK = re.compile(r"mark\.(random|any_draw)")
MARKED = [
    str(path)
    for path in sorted(Path(__file__).parent.rglob("test_*.py"))
    if MARK.search(path.read_text())
]
"""Where a test may be marked; the others need not be collected for every turn."""
SYSTEM = ["-m", "random or (any_draw and not slow)", *MARKED]
EXAMPLES = ["README.md", "docs", "src"]


def main(times: int) -> int:
    for turn in range(1, times + 1):
        for words in (SYSTEM, ["--stream", str(turn), *EXAMPLES]):
            done = subprocess.run(
                [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile", *words],
                cwd=ROOT,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
            if done.returncode:
                sys.stderr.write(f"Turn {turn} of {times} failed: pytest {' '.join(words)}\n")
                return 1
    sys.stdout.write(f"{times} turns passed.\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1])))
