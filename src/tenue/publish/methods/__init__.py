"""The methods of publishing: one file each, named in `catalogue`."""
