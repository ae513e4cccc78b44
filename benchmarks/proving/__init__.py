"""Where layouts matter, and what each way of choosing one is worth."""
