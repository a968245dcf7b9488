"""Convergence studies: every point computed with finer and finer steps until it has settled."""
