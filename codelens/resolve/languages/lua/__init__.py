"""Rules of Lua."""
