"""What codelens answers with: frozen values, below rendering and the engine."""
