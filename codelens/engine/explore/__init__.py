"""One call for a task: ranked definitions, their neighbours in the graph, packed into a budget."""
