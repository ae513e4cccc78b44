"""Advise on N x T: train, measure, time and rank."""
