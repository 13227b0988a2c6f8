"""Noisy means of groups of records that follow each other in one fixed order."""
