; Definitions.
(function_signature) @definition.function
(abstract_class_declaration) @definition.class
(abstract_method_signature) @definition.method
(method_signature) @definition.method
(method_signature ["get" "set"]) @definition.property
(public_field_definition) @definition.field
(public_field_definition value: [
  (arrow_function)
  (function_expression)
]) @definition.method
(required_parameter [(accessibility_modifier) "readonly"]) @definition.field
(optional_parameter [(accessibility_modifier) "readonly"]) @definition.field
(interface_declaration) @definition.interface
(property_signature) @definition.property
(type_alias_declaration) @definition.type
(export_statement (lexical_declaration (variable_declarator
  value: (as_expression (object (pair) @definition.field)))))
(import_alias . (identifier) @name) @definition.type
(enum_declaration) @definition.enum
(enum_assignment) @definition.member
(enum_body name: (_) @name @definition.member)
(internal_module) @definition.module
(module) @definition.module
(module name: (string) @export)
(ambient_declaration (declaration)) @extent
(ambient_declaration "global") @scope @export
; Members of a namespace are visible if marked; in a declared namespace, all are.
(internal_module body: (statement_block) @scope)
(ambient_declaration (internal_module body: (statement_block) @export))
(accessibility_modifier "private") @private
(internal_module body: (statement_block
  (lexical_declaration (variable_declarator) @definition.variable) @extent))
(module body: (statement_block
  (lexical_declaration (variable_declarator) @definition.variable) @extent))
(ambient_declaration (statement_block
  (variable_declaration (variable_declarator) @definition.variable) @extent))
(ambient_declaration (statement_block
  (lexical_declaration (variable_declarator) @definition.variable) @extent))
(ambient_declaration (lexical_declaration (variable_declarator) @definition.variable) @extent)
(ambient_declaration (variable_declaration (variable_declarator) @definition.variable) @extent)

; References.
(type_identifier) @reference.type
(nested_type_identifier module: (identifier) @reference.bound)
(type_query (identifier) @reference.bound)
; `import("./a").T` as a type, which the grammar takes for an expression.
(member_expression
  object: (call_expression function: (import) arguments: (arguments . (string) .))
  property: (property_identifier) @reference.late)
(member_expression
  object: (member_expression
    object: (call_expression function: (import) arguments: (arguments . (string) .)))
  property: (property_identifier) @reference.late)
(type_parameter name: (_) @type.parameter)
(infer_type (type_identifier) @type.parameter)
(mapped_type_clause name: (_) @type.parameter)
(extends_clause value: [(identifier) (member_expression)] @reference.type)
(member_expression property: (property_identifier) @reference.name)
(object (pair key: (property_identifier) @reference.key))
(object (shorthand_property_identifier) @reference.key.short)

; Imports.
(import_require_clause (identifier) @import.alias source: (string) @import.module)

; Scopes and bindings.
[
  (function_signature)
  (method_signature)
  (abstract_method_signature)
  (internal_module)
  (module)
] @scope.function
[
  (abstract_class_declaration)
  (interface_declaration)
  (type_alias_declaration)
] @scope.class
[
  (function_type)
  (constructor_type)
  (call_signature)
  (construct_signature)
  (conditional_type)
  (mapped_type_clause)
] @scope.block
(nested_type_identifier) @chain
(public_field_definition) @bind
(property_signature) @bind
(type_parameter) @bind.type
(infer_type (type_identifier) @bind.type)
(mapped_type_clause name: (_) @bind.type)
(function_declaration return_type: (_) @bind.result)
(generator_function_declaration return_type: (_) @bind.result)
(function_signature return_type: (_) @bind.result)
(function_expression return_type: (_) @bind.result)
(arrow_function return_type: (_) @bind.result)
(method_definition return_type: (_) @bind.result)
(method_signature return_type: (_) @bind.result)
(abstract_method_signature return_type: (_) @bind.result)
(extends_clause value: (_) @bind.base)
(extends_type_clause type: (_) @bind.implements)
(implements_clause (_) @bind.implements)
(type_alias_declaration value: (_) @bind.alias)
(interface_declaration body: (_ (call_signature) @bind.called))
(type_alias_declaration value: (object_type (call_signature) @bind.called))
