"""What the engine answers with: frozen values."""
