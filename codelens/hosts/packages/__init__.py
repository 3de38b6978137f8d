"""What hosts install by themselves: plugins, extensions, a bundle."""
