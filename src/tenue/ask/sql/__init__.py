"""SQL → question, or a refusal that names what is outside the grammar; and question → SQL."""
