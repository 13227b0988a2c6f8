"""What can be promised: the public names of the room `privacy`, as `tn.promise`."""

from .privacy import *  # noqa: F403
from .privacy import __all__  # noqa: F401
