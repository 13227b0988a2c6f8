"""Values become less precise and stay true: intervals, and concepts that cover categories."""
