"""From a Config to the dataset of a run."""
