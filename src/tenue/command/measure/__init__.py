"""What is measured beside an original and leaves nothing: sweeps and comparisons."""
