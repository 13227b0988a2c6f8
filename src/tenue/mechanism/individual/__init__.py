"""Individual differential privacy: noise scaled to the table at hand."""
