"""Reports: a run as one HTML file that shows itself in a browser, without a network."""
