"""What a question computes of one row: its value, its text, and conditions as texts."""
