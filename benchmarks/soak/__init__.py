"""What nbyt withstands, tried many times."""
