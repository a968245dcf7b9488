"""The event-driven engine: closed-form segments, first crossings, the event loop."""
