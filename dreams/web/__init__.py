"""The pages. Nothing outside this package imports it; what a page reads is in `pages`, and what it changes in the services."""
