"""What keeps indexes small: overview, prune, drop and pin."""
