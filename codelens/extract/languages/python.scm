; Definitions. Assignments in functions are left out by what encloses them.
(function_definition) @definition.function
(class_definition) @definition.class
(type_alias_statement
  left: (type [(identifier) @name (generic_type . (identifier) @name)])) @definition.type
(assignment left: [(identifier) (pattern_list) (tuple_pattern)]) @definition.variable
(decorated_definition) @extent
(decorator) @decorator
(decorated_definition (decorator [(identifier) (attribute)] @hint))
(class_definition superclasses: (argument_list [(identifier) (attribute)] @hint))

; Docs.
(comment) @comment
(block . (string) @docstring)

; References.
(call function: [
  (identifier) @reference.call
  (attribute attribute: (identifier) @reference.call)
])
(decorator [(identifier) (attribute)] @reference.call)
(class_definition superclasses: (argument_list [(identifier) (attribute)] @reference.type))
(class_definition superclasses: (argument_list
  (subscript value: [(identifier) (attribute)] @reference.type)))
(type [(identifier) (attribute)] @reference.type)
(generic_type . (identifier) @reference.type)
(type (subscript value: (attribute) @reference.type))
(type (binary_operator [(identifier) (attribute)] @reference.type))
(except_clause value: [(identifier) (attribute)] @reference.type)
(except_clause value: (tuple [(identifier) (attribute)] @reference.type))
(except_clause value: (as_pattern . [
  (identifier) @reference.type
  (attribute) @reference.type
  (tuple [(identifier) (attribute)] @reference.type)
]))
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
(import_statement) @import
(import_from_statement) @import
(import_statement name: (dotted_name) @import.module)
(import_statement name: (aliased_import
  name: (dotted_name) @import.module alias: (identifier) @import.alias))
(import_from_statement module_name: (_) @import.module)
(import_from_statement name: (dotted_name) @import.name)
(import_from_statement name: (aliased_import
  name: (dotted_name) @import.name alias: (identifier) @import.alias))
(wildcard_import) @import.all
