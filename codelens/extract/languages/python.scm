; Definitions.
(function_definition name: (identifier) @name body: (_) @body) @definition.function
(class_definition name: (identifier) @name body: (_) @body) @definition.class
(type_alias_statement
  left: (type [(identifier) @name (generic_type . (identifier) @name)])) @definition.type
(decorated_definition) @extent
(decorator) @decorator

(decorated_definition
  (decorator [(identifier) @_how (attribute attribute: (identifier) @_how)])
  definition: (function_definition) @definition.property
  (#any-of? @_how
    "property" "cached_property" "abstractproperty" "setter" "getter" "deleter"))

(class_definition
  superclasses: (argument_list [(identifier) @_base (attribute attribute: (identifier) @_base)])
  (#any-of? @_base "Enum" "IntEnum" "StrEnum" "Flag" "IntFlag" "ReprEnum")) @definition.enum

; Assignments of a module and of a class, also below its `if`, `try` and `with`.
(module (assignment) @definition.variable)
(module (assignment left: (identifier) @name))
(module (assignment left: (_ (identifier) @name)))
(module (assignment right: (assignment left: (identifier) @name)))
(module [
  (if_statement consequence: (block (assignment left: (identifier) @name) @definition.variable))
  (if_statement alternative: (_
    (block (assignment left: (identifier) @name) @definition.variable)))
  (try_statement body: (block (assignment left: (identifier) @name) @definition.variable))
  (try_statement (_ (block (assignment left: (identifier) @name) @definition.variable)))
  (with_statement body: (block (assignment left: (identifier) @name) @definition.variable))
])
(class_definition body: (block
  (assignment left: [(identifier) @name (pattern_list (identifier) @name)]) @definition.variable))
(ERROR (assignment left: (identifier) @name) @definition.variable)

; Docs.
(comment) @comment
(function_definition body: (block . (string) @docstring))
(class_definition body: (block . (string) @docstring))

; References.
(call function: [
  (identifier) @reference.call
  (attribute attribute: (identifier) @reference.call)
])
(decorator [
  (identifier) @reference.call
  (attribute attribute: (identifier) @reference.call)
])
(class_definition superclasses: (argument_list [
  (identifier) @reference.type
  (attribute attribute: (identifier) @reference.type)
  (subscript value: [
    (identifier) @reference.type
    (attribute attribute: (identifier) @reference.type)
  ])
  (keyword_argument value: (identifier) @reference.type)
]))
(type [
  (identifier) @reference.type
  (attribute attribute: (identifier) @reference.type)
  (generic_type . (identifier) @reference.type)
  (subscript value: [
    (identifier) @reference.type
    (attribute attribute: (identifier) @reference.type)
  ])
  (binary_operator [
    (identifier) @reference.type
    (attribute attribute: (identifier) @reference.type)
    (binary_operator [
      (identifier) @reference.type
      (attribute attribute: (identifier) @reference.type)
    ])
  ])
])
(except_clause value: [
  (identifier) @reference.type
  (attribute attribute: (identifier) @reference.type)
  (tuple [
    (identifier) @reference.type
    (attribute attribute: (identifier) @reference.type)
  ])
  (as_pattern . [
    (identifier) @reference.type
    (attribute attribute: (identifier) @reference.type)
    (tuple [
      (identifier) @reference.type
      (attribute attribute: (identifier) @reference.type)
    ])
  ])
])
(argument_list (identifier) @reference.bound)
(keyword_argument value: (identifier) @reference.bound)
(default_parameter value: (identifier) @reference.bound)
(typed_default_parameter value: (identifier) @reference.bound)
(assignment right: (identifier) @reference.bound)
(return_statement (identifier) @reference.bound)
(pair value: (identifier) @reference.bound)
(list (identifier) @reference.bound)
(tuple (identifier) @reference.bound)
(attribute object: (identifier) @reference.bound)

; Imports.
(import_statement name: [
  (dotted_name) @import.module
  (aliased_import name: (dotted_name) @import.module alias: (identifier) @import.alias)
]) @import
(import_from_statement
  module_name: (_) @import.module
  name: [
    (dotted_name) @import.name
    (aliased_import name: (dotted_name) @import.name alias: (identifier) @import.alias)
  ]) @import
(import_from_statement module_name: (_) @import.module (wildcard_import) @import.all) @import
