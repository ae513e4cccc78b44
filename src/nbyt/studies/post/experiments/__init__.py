"""What is trained and measured for the post; each experiment gives plain data."""
