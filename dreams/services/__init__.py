"""Everything that writes: one package for each thing a person or the scheduler does."""
