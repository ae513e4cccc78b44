"""How often the rules about a training are right, on trainings with planted faults."""
