"""t-closeness by buckets: coarse values, and groups in which each has nearly the table's share.

Everything that decides whether the promise holds is a whole number or a fraction.
"""
