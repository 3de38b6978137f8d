"""Languages of which only imports are followed."""
