"""Groups of rows that are read in passes: the same as in memory, found from what comes in order."""
