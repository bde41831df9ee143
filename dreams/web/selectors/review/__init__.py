"""The review page, part by part; `desk` puts the parts together."""
