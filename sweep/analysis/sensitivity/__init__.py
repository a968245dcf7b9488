"""Sensitivity of observables to uncertain parameters: indices, derivatives, propagated uncertainty."""
