"""Independent high-precision references for the tests."""
