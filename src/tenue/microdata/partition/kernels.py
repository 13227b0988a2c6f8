"""Whether the compiled algorithms are there: they come with the extra `tenue[fast]`."""

from __future__ import annotations

import importlib
from types import ModuleType


def kernels() -> ModuleType | None:
    """The module `fast`, or None where numba is not installed.

    Importing it takes about a second, compiling it the first time about ten; callers ask for it
    only when the table is large enough to repay that.
    """
    try:
        return importlib.import_module(".fast", __package__)
    except ImportError:
        return None
