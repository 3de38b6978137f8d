; Variables of a file, also below its conditionals; those of functions are left out.
(translation_unit
  (declaration declarator: [
    (identifier) @name
    (init_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
    (array_declarator declarator: (identifier) @name)
    (array_declarator declarator: (array_declarator declarator: (identifier) @name))
    (init_declarator declarator: (pointer_declarator declarator: [
      (identifier) @name
      (pointer_declarator declarator: (identifier) @name)
      (array_declarator declarator: (identifier) @name)
    ]))
    (init_declarator declarator: (array_declarator declarator: [
      (identifier) @name
      (array_declarator declarator: (identifier) @name)
    ]))
    (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
      ])))
    (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
      ]))))
  ]) @definition.variable)
(preproc_ifdef
  (declaration declarator: [
    (identifier) @name
    (init_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
    (array_declarator declarator: (identifier) @name)
    (array_declarator declarator: (array_declarator declarator: (identifier) @name))
    (init_declarator declarator: (pointer_declarator declarator: [
      (identifier) @name
      (pointer_declarator declarator: (identifier) @name)
      (array_declarator declarator: (identifier) @name)
    ]))
    (init_declarator declarator: (array_declarator declarator: [
      (identifier) @name
      (array_declarator declarator: (identifier) @name)
    ]))
    (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
      ])))
    (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
      ]))))
  ]) @definition.variable)
(preproc_if
  (declaration declarator: [
    (identifier) @name
    (init_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
    (array_declarator declarator: (identifier) @name)
    (array_declarator declarator: (array_declarator declarator: (identifier) @name))
    (init_declarator declarator: (pointer_declarator declarator: [
      (identifier) @name
      (pointer_declarator declarator: (identifier) @name)
      (array_declarator declarator: (identifier) @name)
    ]))
    (init_declarator declarator: (array_declarator declarator: [
      (identifier) @name
      (array_declarator declarator: (identifier) @name)
    ]))
    (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
      ])))
    (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
      ]))))
  ]) @definition.variable)
(preproc_else
  (declaration declarator: [
    (identifier) @name
    (init_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
    (array_declarator declarator: (identifier) @name)
    (array_declarator declarator: (array_declarator declarator: (identifier) @name))
    (init_declarator declarator: (pointer_declarator declarator: [
      (identifier) @name
      (pointer_declarator declarator: (identifier) @name)
      (array_declarator declarator: (identifier) @name)
    ]))
    (init_declarator declarator: (array_declarator declarator: [
      (identifier) @name
      (array_declarator declarator: (identifier) @name)
    ]))
    (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
      ])))
    (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
      ]))))
  ]) @definition.variable)
(declaration_list
  (declaration declarator: [
    (identifier) @name
    (init_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
    (array_declarator declarator: (identifier) @name)
    (array_declarator declarator: (array_declarator declarator: (identifier) @name))
    (init_declarator declarator: (pointer_declarator declarator: [
      (identifier) @name
      (pointer_declarator declarator: (identifier) @name)
      (array_declarator declarator: (identifier) @name)
    ]))
    (init_declarator declarator: (array_declarator declarator: [
      (identifier) @name
      (array_declarator declarator: (identifier) @name)
    ]))
    (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
      ])))
    (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
      ]))))
  ]) @definition.variable)
(ERROR
  (declaration declarator: [
    (identifier) @name
    (init_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
    (array_declarator declarator: (identifier) @name)
    (array_declarator declarator: (array_declarator declarator: (identifier) @name))
    (init_declarator declarator: (pointer_declarator declarator: [
      (identifier) @name
      (pointer_declarator declarator: (identifier) @name)
      (array_declarator declarator: (identifier) @name)
    ]))
    (init_declarator declarator: (array_declarator declarator: [
      (identifier) @name
      (array_declarator declarator: (identifier) @name)
    ]))
    (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
      ])))
    (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: [
        (identifier) @name
        (array_declarator declarator: (identifier) @name)
      ]))))
  ]) @definition.variable)

; Definitions. A name sits at any depth of its declarator: a function takes the first in its head.
(function_definition body: (_) @body) @definition.function
(function_declarator declarator: (identifier) @name)
(function_declarator declarator: (parenthesized_declarator (identifier) @name))
(declaration declarator: [
  (function_declarator declarator: (identifier))
  (pointer_declarator declarator: (function_declarator declarator: (identifier)))
  (pointer_declarator declarator: (pointer_declarator
    declarator: (function_declarator declarator: (identifier))))
]) @definition.function
(struct_specifier name: (_) @name body: (_) @body) @definition.struct
(union_specifier name: (_) @name body: (_) @body) @definition.union
(enum_specifier name: (_) @name body: (_) @body) @definition.enum
(enumerator name: (_) @name) @definition.member
(field_declaration declarator: (_)) @definition.field
(field_declaration declarator: (field_identifier) @name)
(pointer_declarator declarator: [(field_identifier) (type_identifier)] @name)
(array_declarator declarator: [(field_identifier) (type_identifier)] @name)
(function_declarator declarator: [(field_identifier) (type_identifier)] @name)
(type_definition declarator: (_)) @definition.type
(type_definition declarator: (type_identifier) @name)
(type_definition type: (struct_specifier !name body: (_) @body)) @definition.struct
(type_definition type: (union_specifier !name body: (_) @body)) @definition.union
(type_definition type: (enum_specifier !name body: (_) @body)) @definition.enum
(preproc_def name: (_) @name) @definition.macro
(preproc_function_def name: (_) @name value: (_)? @body) @definition.macro
((storage_class_specifier) @private (#eq? @private "static"))

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
