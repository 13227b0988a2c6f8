"""Where rows are read."""
