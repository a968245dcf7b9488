"""Forces on the mass, one kind a file."""
