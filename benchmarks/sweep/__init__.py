"""How much faster many seeds are together than one after the other."""
