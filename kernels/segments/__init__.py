"""Motion between two events in closed form."""
