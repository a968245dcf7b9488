"""From the dataset of a run to numbers."""
