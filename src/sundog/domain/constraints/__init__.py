"""What every row must satisfy: the kinds of constraints, and how schemas declare them."""
