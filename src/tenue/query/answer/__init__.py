"""What was released for a question, and all that may be said about it."""
