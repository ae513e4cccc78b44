"""Calibration: do intervals printed at 95 % cover the truth in 95 % of independent pools?"""
