"""Private tables: one file for each method of drawing one."""
