"""The methods of publishing."""
