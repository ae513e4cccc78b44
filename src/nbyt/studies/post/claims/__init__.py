"""What the post says, held against the experiments' data; nothing here trains or measures."""
