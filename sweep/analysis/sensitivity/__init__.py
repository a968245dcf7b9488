"""Sensitivity of observables to uncertain parameters: indices, derivatives and propagated uncertainty."""
