"""What is kept beside the index: saved contexts and usage."""
