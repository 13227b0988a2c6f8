"""One fixed total order of a whole domain: numbers, the Hilbert curve, categories depth first.

An order is a function of the schema alone. No row, and no row's place in a file, has a say in it.
"""
