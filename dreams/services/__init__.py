"""Everything that changes state: one package or module for each thing that a person or the scheduler does."""
