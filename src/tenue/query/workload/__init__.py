"""Many questions at once."""
