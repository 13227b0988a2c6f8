"""SQL → question, or a refusal that says what is outside the grammar; and question → SQL."""
