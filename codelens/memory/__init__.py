"""What people and agents keep: saved contexts, and how their handles fare in a view."""
