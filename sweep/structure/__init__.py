"""Modal bases from files and from the description of a beam."""
