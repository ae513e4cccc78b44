"""Gradients of a frozen policy and critic, step by step, without ever writing one step's down."""
