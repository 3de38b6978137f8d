"""What codelens uses of PyStemmer, which ships no types."""

class Stemmer:
    """One algorithm; not safe to share between threads."""

    def __init__(self, algorithm: str, cache_size: int = ...) -> None: ...
    def stemWord(self, word: str) -> str: ...
