"""Rules of Rust."""
