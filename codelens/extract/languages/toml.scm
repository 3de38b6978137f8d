; Tables by their names as written, and the keys before the first of them.
(table) @definition.key
(table_array_element) @definition.key
(table . "[" . (_) @name)
(table_array_element . "[[" . (_) @name)
(document (pair) @definition.key)
(document (pair . (_) @name))
(comment) @comment
