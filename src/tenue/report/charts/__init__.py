"""The charts of objects of other rooms, one file for each room."""
