"""What every answer of an analysis is: tables with units, notes, a picture; and what an analysis says of itself."""
