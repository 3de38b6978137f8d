"""From ranked files to the places that are shown."""
