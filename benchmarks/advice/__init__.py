"""Is the advice right? Against exact answers on tables, and against training on real tasks."""
