"""What is measured on a run: sums over intervals that both engines feed."""
