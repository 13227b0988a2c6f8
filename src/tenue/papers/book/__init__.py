"""The book: one page for each chapter, pictures of all figures, every number as JSON."""
