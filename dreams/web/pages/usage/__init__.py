"""The usage page: tokens and what they cost, in cells, sums and pictures; `page` puts them together."""
