"""Code for developers that the product does not use: benchmarks, and stand-ins for services that tests cannot use."""
