; Definitions. An internal one is visible only in its assembly.
(namespace_declaration) @definition.module
(file_scoped_namespace_declaration) @definition.module
(class_declaration) @definition.class
(record_declaration) @definition.class
(record_declaration "struct") @definition.struct
(struct_declaration) @definition.struct
(interface_declaration) @definition.interface
(enum_declaration) @definition.enum
(enum_member_declaration name: (_) @export) @definition.member
(delegate_declaration) @definition.type
(method_declaration) @definition.method
(constructor_declaration) @definition.method
(destructor_declaration) @definition.method
(operator_declaration) @definition.method
(conversion_operator_declaration ["implicit" "explicit"] @name) @definition.method
(local_function_statement) @definition.function
(property_declaration) @definition.property
(indexer_declaration "this" @name) @definition.property
(event_declaration) @definition.property
(event_field_declaration) @definition.property
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name)))
(field_declaration) @definition.field
(field_declaration (variable_declaration (variable_declarator name: (_) @name)))
(field_declaration (modifier) @hint)
(record_declaration (parameter_list (parameter) @definition.property @export))
(global_statement (local_declaration_statement (variable_declaration
  (variable_declarator) @definition.variable)))
(global_statement (local_declaration_statement) @extent)
(preproc_define (preproc_arg) @name) @definition.macro
(attribute_list) @decorator
(modifier "public" @export)
(modifier "protected" @export)
(modifier "private" @private)

; Docs.
(comment) @comment

; References. The grammar has no type nodes: the position of a name shows that it is a type.
(invocation_expression function: [
  (identifier) @reference.call
  (generic_name . (identifier) @reference.call)
  (member_access_expression name: (identifier) @reference.call)
  (member_access_expression name: (generic_name . (identifier) @reference.call))
  (conditional_access_expression (member_binding_expression name: (identifier) @reference.call))
])
(constructor_initializer ["base" "this"] @reference.call)
(object_creation_expression type: [(identifier) (qualified_name)] @reference.call)
(object_creation_expression type: (generic_name . (identifier) @reference.call))
(object_creation_expression type: (qualified_name name: (generic_name . (identifier) @reference.call)))
(variable_declaration type: [(identifier) (qualified_name)] @reference.type)
(parameter type: [(identifier) (qualified_name)] @reference.type)
(parameter_list type: [(identifier) (qualified_name)] @reference.type)
(property_declaration type: [(identifier) (qualified_name)] @reference.type)
(indexer_declaration type: [(identifier) (qualified_name)] @reference.type)
(event_declaration type: [(identifier) (qualified_name)] @reference.type)
(operator_declaration type: [(identifier) (qualified_name)] @reference.type)
(conversion_operator_declaration type: [(identifier) (qualified_name)] @reference.type)
(delegate_declaration type: [(identifier) (qualified_name)] @reference.type)
(local_function_statement type: [(identifier) (qualified_name)] @reference.type)
(nullable_type type: [(identifier) (qualified_name)] @reference.type)
(array_type type: [(identifier) (qualified_name)] @reference.type)
(tuple_element type: [(identifier) (qualified_name)] @reference.type)
(declaration_pattern type: [(identifier) (qualified_name)] @reference.type)
(recursive_pattern type: [(identifier) (qualified_name)] @reference.type)
(type_pattern type: [(identifier) (qualified_name)] @reference.type)
(catch_declaration type: [(identifier) (qualified_name)] @reference.type)
(foreach_statement type: [(identifier) (qualified_name)] @reference.type)
(ref_type type: [(identifier) (qualified_name)] @reference.type)
(scoped_type type: [(identifier) (qualified_name)] @reference.type)
(pointer_type type: [(identifier) (qualified_name)] @reference.type)
(primary_constructor_base_type type: [(identifier) (qualified_name)] @reference.type)
(cast_expression type: [(identifier) (qualified_name)] @reference.type)
(typeof_expression type: [(identifier) (qualified_name)] @reference.type)
(default_expression type: [(identifier) (qualified_name)] @reference.type)
(declaration_expression type: [(identifier) (qualified_name)] @reference.type)
(sizeof_expression type: [(identifier) (qualified_name)] @reference.type)
(method_declaration returns: [(identifier) (qualified_name)] @reference.type)
(generic_name . (identifier) @reference.type)
(type_argument_list [(identifier) (qualified_name)] @reference.type)
(base_list [(identifier) (qualified_name)] @reference.type)
(type_parameter_constraint [(identifier) (qualified_name)] @reference.type)
(explicit_interface_specifier [(identifier) (qualified_name)] @reference.type)
(attribute name: (_) @reference.type)
(as_expression right: (identifier) @reference.type)
(is_expression right: (identifier) @reference.type)
(type_parameter name: (_) @type.parameter)
(lvalue_expression/identifier) @reference.bound
(constant_pattern (identifier) @reference.bound)
(member_access_expression name: (identifier) @reference.name)
(initializer_expression (assignment_expression left: (identifier) @reference.key))
(with_initializer . (identifier) @reference.key)
(subpattern . (identifier) @reference.key)
(argument name: (identifier) @reference.key @argument.named)
(member_binding_expression name: (identifier) @reference.bound)

; Syntax that calls a method without its name.
[
  (binary_expression)
  (assignment_expression)
  (prefix_unary_expression)
  (postfix_unary_expression)
  (element_access_expression)
  (foreach_statement)
  (using_statement . "using" . "(" . [(identifier) (member_access_expression) (invocation_expression)])
] @protocol
(using_statement . "using" (variable_declaration (variable_declarator) @protocol))
(local_declaration_statement . "using" (variable_declaration (variable_declarator) @protocol))

; Imports: `using N` imports the whole namespace.
(using_directive
  !name [(identifier) (qualified_name) (alias_qualified_name)] @import.module ";" @import.all) @import
(using_directive name: (_) @import.alias (_) @import.module) @import

; Scopes and bindings.
(file_scoped_namespace_declaration name: (_) @bind.package)
(namespace_declaration name: (_) @bind.package)
[
  (method_declaration)
  (constructor_declaration)
  (destructor_declaration)
  (operator_declaration)
  (conversion_operator_declaration)
  (local_function_statement)
  (lambda_expression)
  (anonymous_method_expression)
  (accessor_declaration)
] @scope.function
[
  (class_declaration)
  (struct_declaration)
  (record_declaration)
  (interface_declaration)
  (enum_declaration)
] @scope.class
[
  (block)
  (for_statement)
  (foreach_statement)
  (using_statement)
  (catch_clause)
  (switch_section)
  (switch_expression_arm)
] @scope.block
(member_access_expression expression: (_) @receiver)
(conditional_access_expression condition: (_) @receiver)
(qualified_name) @chain
(argument_list) @call.arguments
(variable_declarator) @bind
(parameter) @bind.parameter
(lambda_expression parameters: (implicit_parameter) @bind.parameter)
(foreach_statement) @bind.each
(declaration_pattern) @bind
(declaration_expression) @bind
(catch_declaration) @bind.parameter
(property_declaration) @bind
(type_parameter) @bind.type
(method_declaration returns: (_) @bind.result)
(local_function_statement type: (_) @bind.result)
(operator_declaration type: (_) @bind.result)
(base_list (_) @bind.implements)
