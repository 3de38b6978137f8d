"""The code that topics are about: from the session trail, as far as it still stands."""
