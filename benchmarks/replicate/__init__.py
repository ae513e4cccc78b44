"""The central measurements of the post's study once more, with code that shares nothing with it."""
