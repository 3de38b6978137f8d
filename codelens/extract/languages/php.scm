; Definitions.
(namespace_definition) @definition.module
(class_declaration) @definition.class
(interface_declaration) @definition.interface
(trait_declaration) @definition.trait
(enum_declaration) @definition.enum
(enum_case) @definition.member
(function_definition) @definition.function
(method_declaration) @definition.method
(property_declaration) @definition.field
(property_element name: (_) @name)
(property_promotion_parameter) @definition.field
(const_declaration) @definition.constant
(const_element . (name) @name)
(program (expression_statement (assignment_expression
  left: (variable_name)) @definition.variable))
(assignment_expression left: (variable_name) right: [
  (anonymous_function)
  (arrow_function)
]) @definition.function
(assignment_expression left: (variable_name)
  right: (object_creation_expression (anonymous_class) @body)) @definition.class
(anonymous_class) @scope
(function_call_expression function: [(name) (qualified_name)] @form.keyword
  arguments: (arguments . (argument (string) @name))) @form
(attribute_list) @decorator
(visibility_modifier "private") @private
(visibility_modifier "protected") @private

; Docs.
(comment) @comment

; References.
(function_call_expression function: [
  (name)
  (qualified_name)
  (relative_name)
] @reference.call)
(member_call_expression name: (name) @reference.call)
(nullsafe_member_call_expression name: (name) @reference.call)
(scoped_call_expression name: (name) @reference.call)
(scoped_call_expression scope: [(name) (qualified_name)] @reference.type)
(scoped_property_access_expression scope: [(name) (qualified_name)] @reference.type)
(object_creation_expression [(name) (qualified_name)] @reference.call)
(named_type) @reference.type
(base_clause [(name) (qualified_name)] @reference.type)
(class_interface_clause [(name) (qualified_name)] @reference.type)
(use_declaration [(name) (qualified_name)] @reference.type)
(attribute [(name) (qualified_name)] @reference.type)
(class_constant_access_expression . [(name) (qualified_name)] @reference.type)
(class_constant_access_expression (_) (name) @reference.name)
(binary_expression operator: "instanceof" right: [(name) (qualified_name)] @reference.type)
(binary_expression operator: "instanceof") @bind.asserted
(primary_expression/name) @reference.bound
(argument name: (name) @reference.key @argument.named)

; Callables: `'f'`, `'A::m'` and `['A', 'm']` where a function takes one, and `[$this, 'm']`.
(function_call_expression function: [(name) (qualified_name)] @call.sending)
(scoped_call_expression name: (name) @call.sending)
(argument [(string) (encapsed_string)] @reference.sent)
(argument (binary_expression left: (name) right: (string) @reference.sent))
(array_creation_expression
  . (array_element_initializer . (_) .)
  . (array_element_initializer . [(string) (encapsed_string)] @reference.sent .) .)

; Syntax that calls a method without its name. `isset($a[1])`, parsed as a function, reads nothing.
(function_call_expression function: (variable_name)) @protocol
(assignment_expression (subscript_expression) @protocol)
(member_call_expression (arguments (argument (subscript_expression) @protocol)))
(object_creation_expression (arguments (argument (subscript_expression) @protocol)))
(binary_expression (subscript_expression) @protocol)
(echo_statement (subscript_expression) @protocol)
(expression_statement (subscript_expression) @protocol)
(member_access_expression object: (subscript_expression) @protocol)
(member_call_expression object: (subscript_expression) @protocol)
(return_statement (subscript_expression) @protocol)
(foreach_statement) @protocol
(encapsed_string (variable_name)) @protocol

; Imports.
(namespace_use_declaration) @import
(namespace_use_declaration (namespace_use_clause . [(name) (qualified_name)] @import.module))
(namespace_use_declaration (namespace_name) @import.module)
(namespace_use_group (namespace_use_clause . [(name) (qualified_name)] @import.name))
(namespace_use_clause alias: (_) @import.alias)
[
  (include_expression)
  (include_once_expression)
  (require_expression)
  (require_once_expression)
] @import
(include_expression [(string) (encapsed_string)] @import.module)
(include_once_expression [(string) (encapsed_string)] @import.module)
(require_expression [(string) (encapsed_string)] @import.module)
(require_once_expression [(string) (encapsed_string)] @import.module)
(binary_expression right: (string) @import.module)
(member_access_expression name: (name) @reference.name)
(nullsafe_member_access_expression name: (name) @reference.name)
(scoped_property_access_expression name: (variable_name (name) @reference.name))

; Scopes and bindings.
(namespace_definition name: (_) @bind.package)
[
  (function_definition)
  (method_declaration)
  (anonymous_function)
  (arrow_function)
] @scope.function
[
  (class_declaration)
  (interface_declaration)
  (trait_declaration)
  (enum_declaration)
  (anonymous_class)
] @scope.class
(member_call_expression object: (_) @receiver)
(nullsafe_member_call_expression object: (_) @receiver)
(member_access_expression object: (_) @receiver)
(scoped_call_expression scope: (_) @receiver)
(class_constant_access_expression . (_) @receiver)
(nullsafe_member_access_expression object: (_) @receiver)
(scoped_property_access_expression scope: (_) @receiver)
(arguments) @call.arguments
(arguments . (variadic_placeholder)) @call.open
(assignment_expression left: (variable_name)) @bind
(simple_parameter) @bind.parameter
(variadic_parameter) @bind.rest
(property_element) @bind
(property_promotion_parameter) @bind.parameter
(foreach_statement . (_) . (variable_name)) @bind.each
(foreach_statement . (_) . (pair)) @bind.each
(catch_clause) @bind.parameter
(return_statement (_) @bind.return)
(arrow_function body: (_) @bind.return)
(function_definition return_type: (_) @bind.result)
(method_declaration return_type: (_) @bind.result)
(anonymous_function return_type: (_) @bind.result)
(base_clause (_) @bind.base)
(class_interface_clause (_) @bind.implements)
(class_declaration body: (declaration_list (use_declaration (_) @bind.implements)))
(trait_declaration body: (declaration_list (use_declaration (_) @bind.implements)))
