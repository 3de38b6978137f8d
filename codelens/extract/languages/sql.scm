; Definitions.
(create_table (object_reference schema: (_)? @owner name: (_) @name)) @definition.struct
(create_table (column_definitions) @body)
(create_view (object_reference schema: (_)? @owner name: (_) @name)) @definition.struct
(create_view (keyword_as) @body)
(create_materialized_view (object_reference schema: (_)? @owner name: (_) @name)) @definition.struct
(create_materialized_view (keyword_as) @body)
(create_function (object_reference schema: (_)? @owner name: (_) @name)) @definition.function
(create_function (function_body) @body)
(create_trigger (object_reference schema: (_)? @owner name: (_) @name)) @definition.function
(create_type (object_reference schema: (_)? @owner name: (_) @name)) @definition.type
(create_type (keyword_type) @hint)
(create_type (enum_elements) @body) @definition.enum
(enum_elements enum_element: (_) @name @definition.member)
(create_index column: (_) @name) @definition.key
(create_sequence (object_reference schema: (_)? @owner name: (_) @name)) @definition.variable
(create_schema (identifier) @name) @definition.module
(create_database (identifier) @name) @definition.module
(column_definition name: (_) @name) @definition.field
; If the grammar does not know the rest of a function.
(ERROR (keyword_create) @decorator . (keyword_function) @decorator
  . (object_reference schema: (_)? @owner name: (_) @name) @definition.function)
(ERROR (keyword_replace) . (keyword_function)
  . (object_reference schema: (_)? @owner name: (_) @name) @definition.function)
(ERROR (keyword_create) @decorator . (keyword_trigger) @decorator
  . (object_reference schema: (_)? @owner name: (_) @name) @definition.function)
(ERROR (keyword_create) @decorator . (keyword_table) @decorator
  . (object_reference schema: (_)? @owner name: (_) @name) @definition.struct)
(alter_table (object_reference name: (_) @owner)) @scope

; Docs.
(comment) @comment
(marginalia) @comment

; References.
(relation (object_reference) @reference.name)
(invocation (object_reference) @reference.call)
(column_definition (object_reference) @reference.type)
(constraint (object_reference) @reference.type)
(insert (object_reference) @reference.name)
(update (relation (object_reference) @reference.name))
