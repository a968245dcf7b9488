"""What shakes a study besides sines: records from files, and random accelerations that are drawn."""
