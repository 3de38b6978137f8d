; Definitions.
(function_item) @definition.function
(function_signature_item) @definition.function
(struct_item) @definition.struct
(union_item) @definition.union
(enum_item) @definition.enum
(enum_variant) @definition.member
(field_declaration) @definition.field
(trait_item) @definition.trait
(type_item) @definition.type
(associated_type) @definition.type
(mod_item) @definition.module
(const_item) @definition.constant
(static_item) @definition.variable
(macro_definition . "macro_rules!" @export "{"? @body) @definition.macro
(function_item (visibility_modifier) @export)
(function_signature_item (visibility_modifier) @export)
(struct_item (visibility_modifier) @export)
(union_item (visibility_modifier) @export)
(enum_item (visibility_modifier) @export)
(field_declaration (visibility_modifier) @export)
(trait_item (visibility_modifier) @export)
(type_item (visibility_modifier) @export)
(mod_item (visibility_modifier) @export)
(const_item (visibility_modifier) @export)
(static_item (visibility_modifier) @export)
(function_item body: (_) @body)
(struct_item body: (field_declaration_list) @body)
(union_item body: (_) @body)
(enum_item body: (_) @body)
(trait_item body: (_) @body)
(mod_item body: (_) @body)
(attribute_item) @decorator

; Members of an impl block belong to its type; members of a trait are as visible as the trait.
(impl_item) @scope
(impl_item trait: (_) @export)
(impl_item type: [(type_identifier) (primitive_type)] @owner)
(impl_item type: (scoped_type_identifier name: (_) @owner))
(impl_item type: (generic_type type: (type_identifier) @owner))
(impl_item type: (generic_type type: (scoped_type_identifier name: (_) @owner)))
(impl_item type: (reference_type type: (type_identifier) @owner))
(impl_item type: (reference_type type: (generic_type type: (type_identifier) @owner)))
(impl_item type: (pointer_type type: (type_identifier) @owner))
(impl_item type: (dynamic_type trait: (type_identifier) @owner))
(impl_item type: (dynamic_type trait: (generic_type type: (type_identifier) @owner)))

; Docs.
(line_comment !inner) @comment
(block_comment !inner) @comment
(line_comment inner: (_)) @docstring.inside
(block_comment inner: (_)) @docstring.inside

; References.
(call_expression function: [
  (identifier) @reference.call
  (field_expression field: (_) @reference.call)
  (scoped_identifier name: (_) @reference.call)
])
(generic_function function: [
  (identifier) @reference.call
  (field_expression field: (_) @reference.call)
  (scoped_identifier name: (_) @reference.call)
])
(macro_invocation macro: (_) @reference.call)
(token_tree (identifier) @reference.call . (token_tree . "("))
; Within tokens, the grammar takes a method named `char` or `str` for a primitive type.
(token_tree "." . (primitive_type) @reference.call . (token_tree . "("))
(token_tree (identifier) @reference.bound)
(type_identifier) @reference.type
(type_parameter name: (_) @type.parameter)
(attribute (scoped_identifier) @reference.name)
(attribute (identifier) @reference.bound)
(scoped_identifier path: (identifier) @reference.bound)
(call_expression function: (scoped_identifier
  path: (scoped_identifier name: (identifier) @reference.type)))
(_expression/scoped_identifier path: (scoped_identifier name: (identifier) @reference.type))
(_expression/identifier) @reference.bound
(_expression/scoped_identifier) @reference.name
(array_type length: [(identifier) @reference.bound (scoped_identifier) @reference.name])
(shorthand_field_initializer (identifier) @reference.bound)
(match_pattern [(identifier) @reference.bound (scoped_identifier) @reference.name])
(or_pattern [(identifier) @reference.bound (scoped_identifier) @reference.name])
(range_pattern [(identifier) @reference.bound (scoped_identifier) @reference.name])
(tuple_pattern [(identifier) @reference.bound (scoped_identifier) @reference.name])
(slice_pattern [(identifier) @reference.bound (scoped_identifier) @reference.name])
(tuple_struct_pattern [(identifier) @reference.bound (scoped_identifier) @reference.name])
(field_pattern pattern: [(identifier) @reference.bound (scoped_identifier) @reference.name])
(field_expression field: (field_identifier) @reference.name)
(token_tree "." . (identifier) @reference.name)
(field_initializer field: (_) @reference.key)
(shorthand_field_initializer (identifier) @reference.key.short)
(field_pattern name: (_) @reference.key)

; Syntax that calls a method without its name.
[
  (binary_expression)
  (compound_assignment_expr)
  (unary_expression)
  (index_expression)
  (for_expression)
] @protocol

; Imports. The path before a list applies to the whole list.
(use_declaration) @import
(use_declaration argument: (identifier) @import.module)
(use_declaration argument: (scoped_identifier path: (_) @import.prefix name: (_) @import.name))
(use_declaration argument: (scoped_identifier !path name: (_) @import.module))
(use_declaration argument: (use_as_clause path: (identifier) @import.module))
(use_as_clause alias: (_) @import.alias)
(use_list (use_as_clause path: (identifier) @import.name))
(use_list (use_as_clause path: (self) @import.self))
(use_as_clause
  path: (scoped_identifier path: (_) @import.prefix name: (_) @import.name))
(scoped_use_list path: (_) @import.prefix)
(use_list (identifier) @import.name)
(use_list (self) @import.self)
(use_list (scoped_identifier path: (_) @import.prefix name: (_) @import.name))
(use_wildcard (_) @import.prefix "*" @import.all)
(use_wildcard . "*" @import.all)
(extern_crate_declaration name: (_) @import.module) @import
(extern_crate_declaration alias: (_) @import.alias)
(mod_item !body name: (_) @import @import.module)

; The arguments of a macro may be code, if they parse as such: `cfg_rt! { mod task; }`.
(source_file (macro_invocation (token_tree . "{") @reparsed))
(declaration_list (macro_invocation (token_tree . "{") @reparsed))

; Scopes and bindings.
[
  (function_item)
  (function_signature_item)
  (closure_expression)
  (mod_item body: (_))
] @scope.function
[
  (struct_item)
  (union_item)
  (enum_item)
  (trait_item)
  (impl_item)
  (type_item)
] @scope.class
[
  (block)
  (for_expression)
  (if_expression)
  (while_expression)
  (match_arm)
] @scope.block
(field_expression) @chain
(scoped_identifier) @chain
(scoped_type_identifier) @chain
(arguments) @call.arguments
(let_declaration) @bind.matched
(let_condition) @bind.matched
(match_arm) @bind.matched
(for_expression) @bind.matched
(parameters (parameter) @bind.matched)
(closure_expression) @bind.handed
(where_predicate left: (type_identifier) bounds: (_)) @bind.type
(struct_item body: (field_declaration_list (field_declaration) @bind))
(enum_variant body: (field_declaration_list (field_declaration) @bind))
(const_item) @bind
(static_item) @bind
(type_parameter) @bind.type
(const_parameter) @bind.type
(function_item return_type: (_) @bind.result)
(function_signature_item return_type: (_) @bind.result)
(trait_item bounds: (trait_bounds (_) @bind.implements))
(impl_item type: (_) @bind.alias)
(impl_item trait: (_) @bind.implements)
(type_item type: (_) @bind.alias)
