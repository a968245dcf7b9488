"""Computing the dataset of a run from a Config."""
