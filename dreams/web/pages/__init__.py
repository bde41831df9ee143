"""The data of each page, one module per page."""
