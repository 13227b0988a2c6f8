"""Protected copies of tables: the public names of the room `publish`, as `tn.microdata`."""

from typing import TYPE_CHECKING

from ._lazy import lazily
from .publish import __all__

if TYPE_CHECKING:
    from .publish import *  # noqa: F403

lazily(__name__, {"tenue.publish": " ".join(__all__)})
