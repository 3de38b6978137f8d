; Definitions. The grammar has no fields. A companion without a name is not one; its members are
; those of the class.
(package_header (identifier) @name) @definition.module
(class_declaration (type_identifier) @name) @definition.class
(class_declaration "interface") @definition.interface
(class_declaration "enum") @definition.enum
(class_declaration (modifiers (class_modifier) @hint))
(class_declaration (class_body) @body)
(class_declaration (enum_class_body) @body)
(object_declaration (type_identifier) @name) @definition.class
(object_declaration (class_body) @body)
(companion_object) @definition.class
(companion_object (type_identifier) @name)
(companion_object (class_body) @body)
(object_literal (class_body) @scope)
(enum_entry (simple_identifier) @name) @definition.member
(enum_entry (class_body) @body)
(type_alias (type_identifier) @name) @definition.type
(function_declaration (simple_identifier) @name) @definition.function
(class_body (function_declaration) @definition.method)
(function_declaration (function_body) @body)
(function_declaration receiver: (receiver_type (user_type) @owner))
(function_declaration receiver: (receiver_type (nullable_type (user_type) @owner)))
(secondary_constructor "constructor" @name) @definition.method
(secondary_constructor "{" @body)
(class_body (property_declaration) @definition.property)
(enum_class_body (property_declaration) @definition.property)
(source_file (property_declaration) @definition.variable)
(ERROR (property_declaration) @definition.variable)
(property_declaration (variable_declaration (simple_identifier) @name))
(property_declaration (multi_variable_declaration (variable_declaration (simple_identifier) @name)))
(property_declaration receiver: (receiver_type (user_type) @owner))
(property_declaration receiver: (receiver_type (nullable_type (user_type) @owner)))
(property_declaration (modifiers (property_modifier) @hint))
(property_declaration (property_delegate) @body)
(property_declaration (getter) @body)
(property_declaration (object_literal) @body)
(class_parameter (binding_pattern_kind) . (simple_identifier) @name) @definition.property
(modifiers (annotation) @decorator)
(primary_constructor (modifiers)) @scope
(visibility_modifier ["private" "internal"] @private)

; Docs.
(line_comment) @comment
(multiline_comment) @comment

; References.
(call_expression . (simple_identifier) @reference.call)
(call_expression . (navigation_expression (navigation_suffix (simple_identifier) @reference.call)))
(infix_expression . (_) . (simple_identifier) @reference.call)
(user_type (type_identifier) @reference.type)
(callable_reference (type_identifier) @reference.type)
(callable_reference (simple_identifier) @reference.name)
(navigation_suffix "::" (simple_identifier) @reference.name)
(type_parameter (type_identifier) @type.parameter)
(navigation_expression . (simple_identifier) @reference.bound)
(navigation_suffix (simple_identifier) @reference.name)
(directly_assignable_expression (simple_identifier) @reference.bound)
(postfix_expression (simple_identifier) @reference.bound)
(indexing_expression (simple_identifier) @reference.bound)
(as_expression (simple_identifier) @reference.bound)
(check_expression (simple_identifier) @reference.bound)
(for_statement (simple_identifier) @reference.bound)
(statements (simple_identifier) @reference.bound)
(call_expression . (simple_identifier) @reference.bound)
(value_argument (simple_identifier) @reference.bound .)
(value_argument . (simple_identifier) @reference.key @argument.named . "=")
(property_declaration (simple_identifier) @reference.bound)
(explicit_delegation (simple_identifier) @reference.bound)
(function_body (simple_identifier) @reference.bound)
(jump_expression (simple_identifier) @reference.bound)
(assignment (simple_identifier) @reference.bound)
(when_condition (simple_identifier) @reference.bound)
(control_structure_body (simple_identifier) @reference.bound)
(additive_expression (simple_identifier) @reference.bound)
(multiplicative_expression (simple_identifier) @reference.bound)
(comparison_expression (simple_identifier) @reference.bound)
(equality_expression (simple_identifier) @reference.bound)
(conjunction_expression (simple_identifier) @reference.bound)
(disjunction_expression (simple_identifier) @reference.bound)
(elvis_expression (simple_identifier) @reference.bound)
(range_expression (simple_identifier) @reference.bound)
(range_test (simple_identifier) @reference.bound)
(infix_expression . (simple_identifier) @reference.bound)
(infix_expression (simple_identifier) @reference.bound .)
(spread_expression (simple_identifier) @reference.bound)
(collection_literal (simple_identifier) @reference.bound)
(property_delegate (simple_identifier) @reference.bound)
(prefix_expression (simple_identifier) @reference.bound)
(parenthesized_expression (simple_identifier) @reference.bound)
(indexing_suffix (simple_identifier) @reference.bound)
(interpolated_expression (simple_identifier) @reference.bound)
(function_value_parameters (simple_identifier) @reference.bound)
(if_expression (simple_identifier) @reference.bound)
(while_statement (simple_identifier) @reference.bound)
(when_subject (simple_identifier) @reference.bound)
(interpolated_identifier) @reference.bound

; Syntax that calls a method without its name; `a == null` calls none.
[
  (additive_expression)
  (multiplicative_expression)
  (range_expression)
  (comparison_expression)
  (equality_expression (_) [
    (simple_identifier) (navigation_expression) (call_expression) (this_expression)
    (indexing_expression) (string_literal)
  ] .)
  (check_expression)
  (prefix_expression)
  (postfix_expression)
  (indexing_expression)
  (directly_assignable_expression (indexing_suffix) .)
  (assignment)
  (call_expression . [(simple_identifier) (call_expression)])
  (for_statement)
  (property_delegate)
] @protocol
(property_declaration (multi_variable_declaration (variable_declaration) @protocol))
(property_declaration (binding_pattern_kind "var") @protocol (property_delegate))

; Imports.
(import_header (identifier) @import.module) @import
(import_header (import_alias (type_identifier) @import.alias))
(import_header (wildcard_import) @import.all)

; Scopes and bindings.
(package_header (identifier) @bind.package)
[
  (function_declaration)
  (lambda_literal)
  (anonymous_function)
  (secondary_constructor)
  (getter)
  (setter)
] @scope.function
[
  (class_declaration)
  (object_declaration)
  (companion_object)
  (object_literal)
  (type_alias)
] @scope.class
[
  (control_structure_body)
  (for_statement)
  (when_entry)
  (catch_block)
] @scope.block
(navigation_expression . (_) @receiver)
(check_expression) @bind.asserted
(type_test) @bind.asserted
(property_declaration (variable_declaration)) @bind
(class_parameter) @bind
(parameter) @bind.parameter
(lambda_parameters (variable_declaration) @bind.parameter)
(call_suffix (annotated_lambda (lambda_literal) @bind.receiver))
(value_argument (lambda_literal) @bind.receiver)
(for_statement (variable_declaration)) @bind.each
(catch_block (simple_identifier) @bind.unknown)
(multi_variable_declaration (variable_declaration) @bind.parameter)
(type_parameter) @bind.type
(function_declaration (function_value_parameters) . [(user_type) (nullable_type)] @bind.result)
(function_declaration (function_body "=" . (_) @bind.return))
(delegation_specifier (constructor_invocation . (user_type) @bind.base))
(delegation_specifier (user_type) @bind.implements)
(explicit_delegation . (user_type) @bind.implements)
(type_alias (user_type) @bind.alias)
(call_suffix) @call.arguments
