"""Which versions of the dependencies are allowed and tested."""
