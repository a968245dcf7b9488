"""How JAX is set up, where compiled programs are kept, and tasks side by side."""
