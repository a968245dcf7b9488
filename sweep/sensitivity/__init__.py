"""Sensitivity studies: distributions, designs by index, indices, derivatives, propagated uncertainty, pictures."""
