"""The setup of JAX, the store of compiled programs, a filter of stderr, and parallel tasks."""
