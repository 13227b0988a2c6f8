"""Whole tables under differential privacy: one file for each way of drawing one."""
