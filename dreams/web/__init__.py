"""The pages. Nothing outside this package imports it; reads live in `selectors`, writes in the services above it."""
