"""What needs no Django and no database: a test walks the imports."""
