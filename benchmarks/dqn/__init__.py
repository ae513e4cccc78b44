"""DQN measured: does it solve what it should, does it learn like a peer, how fast is it."""
