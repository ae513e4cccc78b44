"""What stepping a vector env of the user's own through nbyt costs."""
