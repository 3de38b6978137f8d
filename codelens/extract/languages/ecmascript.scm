; What JavaScript, TypeScript and TSX share.

; Definitions.
(function_declaration name: (_) @name body: (_) @body) @definition.function
(generator_function_declaration name: (_) @name body: (_) @body) @definition.function
(method_definition name: (_) @name body: (_) @body) @definition.method
(class_declaration name: (_) @name body: (_) @body) @definition.class
(decorator) @decorator
(export_statement) @extent @export
(export_statement "default" @name value: [
  (function_expression !name body: (_) @body)
  (generator_function !name body: (_) @body)
  (arrow_function body: (_) @body)
]) @definition.function
(export_statement "default" @name value: (class !name body: (_) @body)) @definition.class
(export_statement "default" @name value: (object) @body) @definition.constant
(export_statement value: (identifier) @export.name)
(export_statement !source (export_clause (export_specifier name: (_) @export.name)))

; Variables of a module.
(program (lexical_declaration kind: "const" (variable_declarator name: [
  (identifier) @name
  (array_pattern (identifier) @name)
  (object_pattern (shorthand_property_identifier_pattern) @name)
  (object_pattern (pair_pattern value: (identifier) @name))
]) @definition.constant) @extent)
(program [
  (lexical_declaration kind: "let" (variable_declarator name: [
    (identifier) @name
    (array_pattern (identifier) @name)
    (object_pattern (shorthand_property_identifier_pattern) @name)
    (object_pattern (pair_pattern value: (identifier) @name))
  ]) @definition.variable)
  (variable_declaration (variable_declarator name: [
    (identifier) @name
    (array_pattern (identifier) @name)
    (object_pattern (shorthand_property_identifier_pattern) @name)
    (object_pattern (pair_pattern value: (identifier) @name))
  ]) @definition.variable)
] @extent)
(export_statement (lexical_declaration kind: "const" (variable_declarator name: [
  (identifier) @name
  (array_pattern (identifier) @name)
  (object_pattern (shorthand_property_identifier_pattern) @name)
  (object_pattern (pair_pattern value: (identifier) @name))
]) @definition.constant) @extent)
(export_statement [
  (lexical_declaration kind: "let" (variable_declarator name: (identifier) @name)
    @definition.variable)
  (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable)
] @extent)
(ERROR (lexical_declaration kind: "const"
  (variable_declarator name: (identifier) @name) @definition.constant) @extent)
(ERROR [
  (lexical_declaration kind: "let" (variable_declarator name: (identifier) @name)
    @definition.variable)
  (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable)
] @extent)

; A variable, member or key that holds a function or a class is one, wherever it stands.
(_ (variable_declarator name: (identifier) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
]) @definition.function) @extent
(_ (variable_declarator name: (identifier) @name value: (class body: (_) @body))
  @definition.class) @extent
(pair key: [(property_identifier) (string)] @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
]) @definition.method
(assignment_expression
  left: (member_expression object: (this) property: (_) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @definition.method
(assignment_expression
  left: (member_expression object: (identifier) @owner property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]
  (#not-any-of? @owner "exports" "module" "window" "globalThis" "self")) @definition.method
(assignment_expression
  left: (member_expression
    object: (member_expression
      object: (identifier) @owner property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]
  (#eq? @_prototype "prototype")) @definition.method
(assignment_expression
  left: (member_expression
    object: (identifier) @owner property: (property_identifier) @_prototype)
  right: (object)
  (#eq? @_prototype "prototype")) @scope
([
  (arguments (function_expression name: (_) @name body: (_) @body) @definition.function)
  (return_statement (function_expression name: (_) @name body: (_) @body) @definition.function)
])
([
  (arguments (class name: (_) @name body: (_) @body) @definition.class)
  (return_statement (class name: (_) @name body: (_) @body) @definition.class)
])

; Docs.
(comment) @comment

; References.
(call_expression function: [
  (identifier) @reference.call
  (member_expression property: (_) @reference.call)
])
(new_expression constructor: [
  (identifier) @reference.call
  (member_expression property: (_) @reference.call)
])
(decorator [
  (identifier) @reference.call
  (member_expression property: (_) @reference.call)
])
(arguments (identifier) @reference.bound)
(variable_declarator value: (identifier) @reference.bound)
(assignment_expression right: (identifier) @reference.bound)
(return_statement (identifier) @reference.bound)
(pair value: (identifier) @reference.bound)
(shorthand_property_identifier) @reference.bound
(array (identifier) @reference.bound)
(member_expression object: (identifier) @reference.bound)

; Imports.
(import_statement source: (string) @import.module) @import
(import_clause (identifier) @import.default)
(import_specifier name: (_) @import.name alias: (identifier)? @import.alias)
(namespace_import (identifier) @import.namespace)
(export_statement
  (export_clause (export_specifier name: (_) @import.name alias: (_)? @import.alias))
  source: (string) @import.module) @import
(export_statement "*" @import.all source: (string) @import.module) @import
(export_statement
  (namespace_export (_) @import.namespace) source: (string) @import.module) @import
(variable_declarator
  name: [
    (identifier) @import.alias
    (object_pattern [
      (shorthand_property_identifier_pattern) @import.name
      (pair_pattern key: (_) @import.name value: (identifier) @import.alias)
    ])
  ]
  value: [
    (call_expression function: (identifier) @_require arguments: (arguments . (string) @import.module .))
    (await_expression
      (call_expression function: (import) @_require arguments: (arguments . (string) @import.module .)))
  ]
  (#any-of? @_require "require" "import")) @import
(call_expression
  function: (identifier) @_require arguments: (arguments . (string) @import.module .)
  (#eq? @_require "require")) @import
(call_expression
  function: (import) arguments: (arguments . (string) @import.module .)) @import
