"""Agreement: the probe's estimates against brute force, fresh rollouts and plain gradients."""
