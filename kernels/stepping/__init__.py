"""Time schemes, one a file, and the loop that drives them."""
