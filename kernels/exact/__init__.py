"""The event-driven exact engine: event loops, the search for the next event, derivatives, periodic orbits."""
