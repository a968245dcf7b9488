"""Optimisation of parameters: objectives and constraints over runs, solvers, optimality, Pareto fronts."""
