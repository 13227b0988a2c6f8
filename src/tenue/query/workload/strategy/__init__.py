"""What is released in place of many answers, and how these are estimated from it."""
