"""Live: do the intervals of a single batch of a training hold the truth as often as they say?"""
