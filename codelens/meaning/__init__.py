"""What words mean, by a small table of word vectors that ships with codelens: docs/meaning.md."""
