"""The steps of a dream, one module each; `engine` has their order."""
