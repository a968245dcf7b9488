"""Many oscillators at once: which program runs a row, how it is compiled, and how rows are spread over lanes and devices."""
