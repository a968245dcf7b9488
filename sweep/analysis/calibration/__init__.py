"""Parameters from measurements: residuals, fits and what they leave uncertain."""
