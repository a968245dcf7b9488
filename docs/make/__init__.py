"""The documentation site: pages, generated reference and executed tutorials, built by Zensical (`python -m docs.make`)."""
