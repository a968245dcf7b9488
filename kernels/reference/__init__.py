"""Published closed forms and values. No engine uses them."""
