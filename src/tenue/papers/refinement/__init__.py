"""Beliefs refined as far as the promise allows (thesis, chapter 5; PASSAT 2012)."""
