"""Do the tests that train pass on every CPU?"""
