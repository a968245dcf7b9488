"""External forces on the mass, one kind in each file."""
