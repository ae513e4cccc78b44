"""The answers about settings as a page in the browser: the rules compiled to JavaScript."""
