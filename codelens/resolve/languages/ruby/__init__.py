"""Rules of Ruby."""
