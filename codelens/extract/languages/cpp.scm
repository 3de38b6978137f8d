; Definitions. Declarations are captured by their parent: those in functions, and `friend`
; ones, do not count. A declaration whose declarator takes parameters declares a function.
; A node without a type is a constructor or a macro with a block; in functions it does not count.
(function_definition type: (_)) @definition.function
(translation_unit (function_definition !type) @definition.function)
(declaration_list (function_definition !type) @definition.function)
(template_declaration (function_definition !type) @definition.function)
(field_declaration_list (function_definition !type) @definition.function)
(preproc_ifdef (function_definition !type) @definition.function)
(preproc_if (function_definition !type) @definition.function)
(preproc_else (function_definition !type) @definition.function)
(ERROR (function_definition !type) @definition.function)
(translation_unit (declaration) @definition.variable)
(declaration_list (declaration) @definition.variable)
(template_declaration (declaration) @definition.variable)
(field_declaration_list (declaration) @definition.variable)
(linkage_specification body: (declaration) @definition.variable)
(preproc_ifdef (declaration) @definition.variable)
(preproc_if (declaration) @definition.variable)
(preproc_else (declaration) @definition.variable)
(preproc_elif (declaration) @definition.variable)
(translation_unit (_ !body (type_qualifier "constexpr")) @definition.constant)
(declaration_list (_ !body (type_qualifier "constexpr")) @definition.constant)
(template_declaration (_ !body (type_qualifier "constexpr")) @definition.constant)
(field_declaration_list (_ (type_qualifier "constexpr") declarator: (field_identifier) @name.constant))
(ERROR (_ (type_qualifier "constexpr") declarator: (field_identifier) @name.constant))
(translation_unit (_ (type_qualifier "const")
  declarator: (init_declarator declarator: (identifier))) @definition.constant)
(translation_unit (_ (type_qualifier "const")
  declarator: (init_declarator declarator: (array_declarator))) @definition.constant)
(translation_unit (_ declarator: (init_declarator
  declarator: (pointer_declarator (type_qualifier "const")))) @definition.constant)
(declaration_list (_ (type_qualifier "const")
  declarator: (init_declarator declarator: (identifier))) @definition.constant)
(declaration_list (_ (type_qualifier "const")
  declarator: (init_declarator declarator: (array_declarator))) @definition.constant)
(declaration_list (_ declarator: (init_declarator
  declarator: (pointer_declarator (type_qualifier "const")))) @definition.constant)
(declaration declarator: (init_declarator
  value: (lambda_expression body: (_) @body))) @definition.function
(field_declaration) @definition.field
(ERROR (function_declarator) @definition.variable)
(function_declarator declarator: [(identifier) (field_identifier)] @name.function)
(function_declarator declarator: [
  (qualified_identifier) (operator_name) (destructor_name) (template_function)
] @name @name.function)
(function_declarator declarator: (parenthesized_declarator (identifier) @name.function))
(_ declarator: [
  (operator_cast) @name @name.function
  (qualified_identifier) @name
  (template_function) @name
])
; `A::~A() = default;` outside of its class: the grammar takes it for a statement.
(translation_unit (expression_statement (_
  left: (call_expression function: (qualified_identifier) @name))) @definition.function)
(declaration_list (expression_statement (_
  left: (call_expression function: (qualified_identifier) @name))) @definition.function)
(template_declaration) @extent
(linkage_specification body: (declaration)) @extent
(linkage_specification body: (function_definition)) @extent
(attribute_declaration) @decorator
(class_specifier name: (_) body: (_)) @definition.class
(struct_specifier name: (_) body: (_)) @definition.struct
(class_specifier name: (template_type name: (_) @name) body: (_))
(struct_specifier name: (template_type name: (_) @name) body: (_))
(union_specifier name: (_) body: (_)) @definition.union
(enum_specifier name: (_) body: (_)) @definition.enum
(enumerator) @definition.member
(type_definition) @definition.type
(type_definition type: (struct_specifier !name body: (_) @body)) @definition.struct
(type_definition type: (union_specifier !name body: (_) @body)) @definition.union
(type_definition type: (enum_specifier !name body: (_) @body)) @definition.enum
(alias_declaration) @definition.type
(concept_definition) @definition.type
(namespace_definition) @definition.module
(namespace_alias_definition) @definition.module
(preproc_def) @definition.macro
; An include guard defines nothing; as an import it is left out.
(_ . "#ifndef" . (_) . (preproc_def !value) @import)
(preproc_function_def value: (_)? @body) @definition.macro

; `TEST(Suite, Name) {...}`: the arguments name it.
(function_definition !type declarator: (_
  declarator: (identifier)
  parameters: (parameter_list . (parameter_declaration type: (type_identifier) @owner !declarator)
    . (parameter_declaration type: (type_identifier) @name !declarator) .)))

; `int PRIV(name)(int x)`: a macro makes the name, since no function returns a function.
(function_declarator declarator: (function_declarator declarator: (identifier)
  parameters: (parameter_list . (parameter_declaration type: (type_identifier) @name @name.function !declarator) .)))
(function_declarator declarator: (function_declarator declarator: [(field_identifier) (type_identifier)]
  parameters: (parameter_list . (parameter_declaration type: (type_identifier) @name !declarator) .)))
(array_declarator declarator: (function_declarator declarator: (identifier)
  parameters: (parameter_list . (parameter_declaration type: (type_identifier) @name @name.variable !declarator) .)))

; Definitions visible only in their file, or only in their class.
(translation_unit (_ (storage_class_specifier "static") @private))
(declaration_list (_ (storage_class_specifier "static") @private))
(namespace_definition !name body: (_ [
  (_ type: (_) @private)
  (class_specifier name: (_) @private)
  (struct_specifier name: (_) @private)
  (enum_specifier name: (_) @private)
]))
(access_specifier) @access
(friend_declaration (_ declarator: (_) @outside))

; Docs.
(comment) @comment

; References.
(call_expression function: [
  (identifier) @reference.call
  (qualified_identifier) @reference.call
  (field_expression field: (_) @reference.call)
])
; A construction calls the name of its type.
(new_expression type: [(type_identifier) (qualified_identifier)] @reference.call)
(new_expression type: (template_type name: (_) @reference.call))
(new_expression type: (qualified_identifier name: (template_type name: (_) @reference.call)))
(new_expression type: (qualified_identifier
  name: (qualified_identifier name: (template_type name: (_) @reference.call))))
(compound_literal_expression type: [(type_identifier) (qualified_identifier)] @reference.call)
(compound_literal_expression type: (template_type name: (_) @reference.call))
(compound_literal_expression type: (qualified_identifier name: (template_type name: (_) @reference.call)))
; `Derived() : Base(1)`: this calls no field.
(field_initializer (field_identifier) @reference.call @call.initial)
(field_initializer (template_method name: (_) @call.initial))
(field_initializer (qualified_identifier name: (_) @call.initial) @reference.call)
(template_function name: (_) @reference.call)
(template_method name: (_) @reference.call)
(call_expression function: (qualified_identifier scope: (namespace_identifier) @reference.type))
(call_expression function: (qualified_identifier
  name: (qualified_identifier scope: (namespace_identifier) @reference.type)))
(call_expression function: (qualified_identifier name: (qualified_identifier
  name: (qualified_identifier scope: (namespace_identifier) @reference.type))))
(type_identifier) @reference.type
(type_parameter_declaration (type_identifier) @type.parameter)
(optional_type_parameter_declaration name: (_) @type.parameter)
(variadic_type_parameter_declaration (type_identifier) @type.parameter)
(expression/identifier) @reference.bound
(preproc_def value: (preproc_arg) @reference.macro)
(preproc_function_def value: (preproc_arg) @reference.macro)
; In the conditions of the preprocessor these are no expressions.
(binary_expression (identifier) @reference.bound)
(unary_expression (identifier) @reference.bound)
(parenthesized_expression (identifier) @reference.bound)
(expression/qualified_identifier) @reference.name
(expression/qualified_identifier scope: (namespace_identifier) @reference.type)
(expression/qualified_identifier
  name: (qualified_identifier scope: (namespace_identifier) @reference.type))
(expression/qualified_identifier name: (qualified_identifier
  name: (qualified_identifier scope: (namespace_identifier) @reference.type)))
(template_argument_list (type_descriptor type: (qualified_identifier) @reference.name))
(using_declaration [(identifier) (qualified_identifier)] @reference.name)
(array_declarator size: (identifier) @reference.bound)
(initializer_list (identifier) @reference.bound)
(initializer_pair value: (identifier) @reference.bound)
(field_expression field: (field_identifier) @reference.name)
(field_designator (field_identifier) @reference.key)
(assignment_expression left: (identifier) @reference.bound)
(update_expression argument: (identifier) @reference.bound)
(case_statement value: [(identifier) (qualified_identifier)] @reference.name)

; Syntax that calls a method without its name. Pointers have no operators of their own.
[
  (binary_expression)
  (assignment_expression)
  (unary_expression)
  (pointer_expression)
  (update_expression)
  (subscript_expression)
  (field_expression operator: "->")
  (call_expression function: [(identifier) (call_expression)])
  (for_range_loop)
] @protocol
(pointer_declarator declarator: [(identifier) (field_identifier)] @protocol.pointer)
(pointer_declarator (reference_declarator (identifier) @protocol.pointer))
(pointer_declarator declarator: (pointer_declarator declarator: (_) @protocol.pointer.far))
(pointer_declarator declarator: (array_declarator declarator: (_) @protocol.pointer.far))
(pointer_declarator (pointer_declarator (reference_declarator (_) @protocol.pointer.far)))
(array_declarator declarator: (array_declarator declarator: (_) @protocol.pointer.far))
(array_declarator declarator: [(identifier) (field_identifier)] @protocol.pointer)
(init_declarator declarator: (identifier) @protocol.pointer value: (new_expression))
(init_declarator declarator: (identifier) @protocol.pointer
  value: (call_expression function: [(template_function) (qualified_identifier name: (template_function))]))

; Imports.
(preproc_include path: (_) @import.module) @import

; Scopes and bindings.
(function_definition) @scope.function
(lambda_expression) @scope.function
(compound_statement) @scope.block
(for_range_loop) @scope.block
(catch_clause) @scope.block
(class_specifier body: (_)) @scope.class
(alias_declaration) @scope.class
(for_statement) @scope.block
(struct_specifier body: (_)) @scope.class
(union_specifier body: (_)) @scope.class
(type_definition) @scope.class
(field_expression argument: (_) @receiver)
(qualified_identifier scope: (_) @receiver)
; Forward declarations: `class Foo;`
(class_specifier name: (type_identifier) @bind.forward !body)
(translation_unit (struct_specifier name: (type_identifier) @bind.forward !body))
(declaration_list (struct_specifier name: (type_identifier) @bind.forward !body))
(field_declaration type: (struct_specifier name: (type_identifier) @bind.forward !body) !declarator)
(friend_declaration (type_identifier) @bind.forward)
(argument_list) @call.arguments
(init_declarator) @bind
(condition_clause value: (declaration value: (_)) @bind)
(declaration declarator: (identifier) @bind)
(declaration declarator: (pointer_declarator declarator: (identifier) @bind))
(declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @bind)))
(declaration declarator: (array_declarator declarator: (identifier) @bind))
(declaration declarator: (function_declarator declarator: (identifier) @bind))
(declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @bind)))
(parameter_declaration declarator: (_)) @bind.parameter
(field_declaration declarator: (field_identifier)) @bind
(field_declaration declarator: (pointer_declarator declarator: (field_identifier))) @bind
(field_declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier)))) @bind
(field_declaration declarator: (array_declarator declarator: (field_identifier))) @bind
(field_declaration declarator: (reference_declarator (field_identifier))) @bind
(field_declaration declarator: (function_declarator declarator: (field_identifier) @bind))
(field_declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @bind)))
(field_declaration declarator: (reference_declarator (function_declarator declarator: (field_identifier) @bind)))
(declaration declarator: (reference_declarator (function_declarator declarator: (identifier) @bind)))
(optional_parameter_declaration) @bind.parameter
(for_range_loop) @bind.each
(function_definition type: (_) @bind.result)
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @bind.base)
(type_parameter_declaration (type_identifier) @bind.unknown)
(alias_declaration type: (_) @bind.alias)
(type_definition type: (_) @bind.alias)
(parameter_declaration declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (identifier) @bind.unknown))))
(declaration declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (identifier) @bind.unknown))))
