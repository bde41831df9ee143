"""Code that needs neither Django nor the database. A test walks the imports."""
