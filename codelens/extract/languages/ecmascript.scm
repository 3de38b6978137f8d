; Shared by JavaScript, TypeScript and TSX.

; Definitions.
(function_declaration) @definition.function
(generator_function_declaration) @definition.function
(method_definition) @definition.method
(method_definition ["get" "set"]) @definition.property
(class_declaration) @definition.class
(decorator) @decorator
(export_statement) @extent @export
(export_statement "default" @name value: [
  (arrow_function)
  (function_expression !name)
  (generator_function !name)
]) @definition.function
(export_statement "default" @name value: (class !name)) @definition.class
(export_statement "default" @name value: [(object) (call_expression)]) @definition.constant
(export_statement value: (identifier) @export.name)
(export_statement !source (export_clause (export_specifier name: (_) @export.name)))

; Variables of a module.
(program (lexical_declaration (variable_declarator) @definition.variable) @extent)
(program (variable_declaration (variable_declarator) @definition.variable) @extent)
(export_statement (lexical_declaration (variable_declarator) @definition.variable) @extent)
(export_statement (variable_declaration (variable_declarator) @definition.variable) @extent)
(program (_ (statement_block
  (variable_declaration (variable_declarator) @definition.variable) @extent)))
(ERROR (lexical_declaration (variable_declarator) @definition.variable) @extent)
(ERROR (variable_declaration (variable_declarator) @definition.variable) @extent)
(program (lexical_declaration (variable_declarator value: (object (pair) @definition.field))))
(program (variable_declaration (variable_declarator value: (object (pair) @definition.field))))
(export_statement (lexical_declaration (variable_declarator value: (object (pair) @definition.field))))
(export_statement value: (object (pair) @definition.field))
(variable_declarator value: (call_expression function: (_) @hint))

; A variable that holds a function or a class counts as one anywhere.
(variable_declarator value: [
  (arrow_function)
  (function_expression)
  (generator_function)
]) @definition.function
(variable_declarator value: (class)) @definition.class
(pair value: [
  (arrow_function)
  (function_expression)
  (generator_function)
]) @definition.method
(assignment_expression left: [(member_expression) (identifier)] right: [
  (arrow_function)
  (function_expression)
  (generator_function)
]) @definition.function
(assignment_expression left: (member_expression object: (this) @self)) @definition.field
(function_expression name: (_)) @definition.function
(class name: (_)) @definition.class

; Docs.
(comment) @comment

; References.
(call_expression function: [
  (identifier) @reference.call
  (member_expression property: (_) @reference.call)
])
(new_expression constructor: [(identifier) (member_expression)] @reference.call)
; `await f<T>()`, which the grammar parses as a call of an await expression.
(call_expression function: (await_expression [
  (identifier) @reference.call
  (member_expression property: (_) @reference.call)
]))
(decorator [(identifier) (member_expression)] @reference.name)
(primary_expression/identifier) @reference.bound
; Variables that are set: `a = 1`, `a += 1`, `[a, { b: c }] = d`.
(assignment_expression left: (identifier) @reference.bound)
(augmented_assignment_expression left: (identifier) @reference.bound)
(assignment_expression left: (array_pattern (identifier) @reference.bound))
(assignment_expression left: (object_pattern (pair_pattern value: (identifier) @reference.bound)))
(member_expression object: [(identifier) (this)] property: (_) @reference.member)
; Members as values: passed, listed, assigned, returned, or with `bind` and `call` after them.
(subscript_expression index: (string) @reference.sent)
(arguments (member_expression property: (property_identifier) @reference.name))
(array (member_expression property: (property_identifier) @reference.name))
(pair value: (member_expression property: (property_identifier) @reference.name))
(variable_declarator value: (member_expression property: (property_identifier) @reference.name))
(assignment_expression right: (member_expression property: (property_identifier) @reference.name))
(return_statement (member_expression property: (property_identifier) @reference.name))
(arrow_function body: (member_expression property: (property_identifier) @reference.name))
(binary_expression (member_expression property: (property_identifier) @reference.name))
(ternary_expression (member_expression property: (property_identifier) @reference.name))
(parenthesized_expression (member_expression property: (property_identifier) @reference.name))
(export_statement value: (member_expression property: (property_identifier) @reference.name))
(call_expression function: (member_expression object: (member_expression property: (property_identifier) @reference.name)))
(spread_element (member_expression property: (property_identifier) @reference.name))
(shorthand_property_identifier) @reference.bound
(object_pattern (shorthand_property_identifier_pattern) @reference.taken)
(object_pattern (pair_pattern key: (property_identifier) @reference.taken))
(object_pattern (object_assignment_pattern
  left: (shorthand_property_identifier_pattern) @reference.taken))
(export_statement !source (export_clause (export_specifier name: (identifier) @reference.export)))

; Imports.
(import_statement) @import
(import_statement source: (string) @import.module)
(import_clause (identifier) @import.default)
(namespace_import (identifier) @import.namespace)
(import_specifier name: (_) @import.name)
(import_specifier alias: (_) @import.alias)
(export_statement source: (string) @import.module) @import
(export_statement "*" @import.all source: (string))
(namespace_export (_) @import.namespace)
(export_statement (export_clause (export_specifier name: (_) @import.name alias: (_)? @import.alias))
  source: (string))
(call_expression function: (import) arguments: (arguments . (string) @import.module .)) @import
(variable_declarator
  name: (object_pattern [
    (shorthand_property_identifier_pattern) @import.name
    (pair_pattern key: (_) @import.name value: (identifier) @import.alias)
  ])
  value: (await_expression (call_expression
    function: (import) arguments: (arguments . (string) @import.module .)))) @import
(call_expression function: (identifier) @import.call
  arguments: (arguments . (string) @import.module .)) @import
(variable_declarator
  name: [
    (identifier) @import.alias
    (object_pattern [
      (shorthand_property_identifier_pattern) @import.name
      (pair_pattern key: (_) @import.name value: (identifier) @import.alias)
    ])
  ]
  value: (call_expression function: (identifier) @import.call
    arguments: (arguments . (string) @import.module .))) @import

; Uses of modules that are loaded late.
(call_expression function: (import) arguments: (arguments . (string))) @reference.late
(call_expression
  function: (call_expression
    function: (identifier)
    arguments: (arguments . (string) .)) @reference.late)
(new_expression constructor: (parenthesized_expression
  (call_expression function: (identifier) arguments: (arguments . (string) .)) @reference.late))
(member_expression
  object: [
    (call_expression function: (identifier) arguments: (arguments . (string) .))
    (parenthesized_expression (await_expression (call_expression function: (import))))
  ]
  property: (property_identifier) @reference.late)

; Scopes and bindings.
[
  (function_declaration)
  (generator_function_declaration)
  (function_expression)
  (generator_function)
  (arrow_function)
  (method_definition)
] @scope.function
[
  (class_declaration)
  (class)
] @scope.class
[
  (statement_block)
  (for_statement)
  (for_in_statement)
  (catch_clause)
  (switch_body)
] @scope.block
(member_expression) @chain
(variable_declarator) @bind
(assignment_expression) @bind.assign
(for_in_statement kind: ["let" "const"] operator: "of") @bind.loop
(for_in_statement kind: ["let" "const"] left: (_) @bind.unknown operator: "in")
(for_in_statement kind: "var" operator: "of") @bind.each
(for_in_statement !kind operator: "of") @bind.each
(for_in_statement kind: "var" operator: "in") @bind.unknown
(for_in_statement !kind operator: "in") @bind.unknown
(function_expression name: (_) @bind.own)
(generator_function name: (_) @bind.own)
(class name: (_) @bind.own)
(catch_clause parameter: (_) @bind.unknown)
(formal_parameters (_) @bind.parameter)
(arrow_function parameter: (identifier) @bind.parameter)
(return_statement (_) @bind.return)
(arrow_function body: (expression) @bind.return)
(yield_expression) @bind.yield
; Functions with their own `this`, except for methods of classes.
(statement_block (function_declaration) @bind.this)
(object (method_definition) @bind.this)
(arguments (function_expression) @bind.this)
(variable_declarator value: (function_expression) @bind.this)
(assignment_expression right: (function_expression) @bind.this)
(pair value: (function_expression) @bind.this)
(return_statement (function_expression) @bind.this)
(arrow_function body: (function_expression) @bind.this)
(parenthesized_expression (function_expression) @bind.this)
(array (function_expression) @bind.this)
(export_statement !source (export_clause (export_specifier) @bind.export))
(export_statement "default" value: (_)) @bind.export
(export_statement "default" declaration: (_)) @bind.export
