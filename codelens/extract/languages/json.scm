; The keys of the outermost object; deeper ones would flood the index with data.
(document (object (pair) @definition.key))
(comment) @comment
