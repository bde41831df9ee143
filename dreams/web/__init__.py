"""The web pages. Nothing outside this package imports it; `pages` reads, the services change."""
