"""The web pages. Nothing outside this package imports it. `pages` reads data; the services change it."""
