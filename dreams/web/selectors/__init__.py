"""All reads of the pages: small frozen dataclasses, made with a bounded number of queries."""
