"""What each page reads, one module a page."""
