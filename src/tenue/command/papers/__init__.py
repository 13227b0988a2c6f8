"""The verb `papers`: it runs for a minute, and says meanwhile where it is."""
