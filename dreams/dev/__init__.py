"""What developers use and the product does not: measures, and stand-ins for what a test cannot have."""
