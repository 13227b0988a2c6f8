"""How texts write days and moments, on every engine alike.

A day is a year from 0001 to 9999, a month and a day, with - or / between them. A moment is a day, a
space or T, hours and minutes, maybe seconds and a fraction of them. What ends in Z, UTC or an
offset such as +02, +0230 or -05:00 is an instant, and read in UTC as stored instants are. Spaces
around do not count; infinity and -infinity, or inf, are beyond every bound. Everything else is no
day and no moment: another order of day and month, a year of another length, 24:00, AM or PM.

The patterns say so in words that every engine's regular expressions share. Whether a year has a
29th of February they leave to the engine.
"""

from __future__ import annotations


def _months(between: str) -> str:
    long = f"(0?[13578]|1[02]){between}(0?[1-9]|[12][0-9]|3[01])"
    short = f"(0?[469]|11){between}(0?[1-9]|[12][0-9]|30)"
    return f"({long}|{short}|0?2{between}(0?[1-9]|[12][0-9]))"


_YEAR = "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"  # there is no year 0
_DAY = f"{_YEAR}(-{_months('-')}|/{_months('/')})"
_TIME = "([01]?[0-9]|2[0-3]):[0-5]?[0-9](:[0-5]?[0-9]([.][0-9]+)?)?"
_ZONE = " ?(Z|UTC|[+-](0[0-9]|1[0-5])(:?[0-5][0-9])?)"

LOCAL = f"^{_DAY}([ T]{_TIME})?$"
"""A day, or a moment without a zone."""
INSTANT = f"^{_DAY}[ T]{_TIME}{_ZONE}$"
"""A moment with a zone."""
NEVER, EVER = ("-infinity", "-inf"), ("infinity", "inf")
"""In lower case, what is before every bound and what is after every bound."""
