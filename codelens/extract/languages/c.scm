; Definitions. A declaration whose declarator takes parameters declares a function; variables of
; functions are left out by what encloses them.
(function_definition) @definition.function
(declaration) @definition.variable
(ERROR (function_declarator) @definition.variable)
(ERROR (pointer_declarator (function_declarator)) @definition.variable)
(function_declarator declarator: (identifier) @name.function)
(function_declarator declarator: (parenthesized_declarator (identifier) @name.function))
(struct_specifier name: (_) body: (_)) @definition.struct
(union_specifier name: (_) body: (_)) @definition.union
(enum_specifier name: (_) body: (_)) @definition.enum
(enumerator) @definition.member
(field_declaration) @definition.field
(type_definition) @definition.type
(type_definition type: (struct_specifier !name body: (_) @body)) @definition.struct
(type_definition type: (union_specifier !name body: (_) @body)) @definition.union
(type_definition type: (enum_specifier !name body: (_) @body)) @definition.enum
(preproc_def) @definition.macro
(preproc_function_def value: (_)? @body) @definition.macro
(storage_class_specifier "static" @private)

; Docs.
(comment) @comment

; References.
(call_expression function: [
  (identifier) @reference.call
  (field_expression field: (_) @reference.call)
])
(type_identifier) @reference.type
(argument_list (identifier) @reference.bound)
(assignment_expression right: (identifier) @reference.bound)
(init_declarator value: (identifier) @reference.bound)
(initializer_list (identifier) @reference.name)
(initializer_pair value: (identifier) @reference.name)

; Imports.
(preproc_include path: (_) @import.module) @import
