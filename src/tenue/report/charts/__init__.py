"""What the kinds of objects of other rooms look like, one file for each room."""
