"""Studies of boundaries: where an observable changes from one word to another, or passes a level, over two parameters."""
