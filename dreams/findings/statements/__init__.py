"""What memory says, statement by statement: what each holds, where it stands, and whether another keeps it. PURE."""
