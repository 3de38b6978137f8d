"""What `codelens search` prints beside a list in a pipe."""
