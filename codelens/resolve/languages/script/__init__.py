"""Rules of JavaScript and TypeScript."""
