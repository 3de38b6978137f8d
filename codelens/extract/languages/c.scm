; Definitions. Declarations are captured by their parent: those in blocks do not count. One whose
; declarator takes parameters declares a function.
(function_definition) @definition.function
(translation_unit (declaration) @definition.variable)
(linkage_specification body: (declaration) @definition.variable)
(declaration_list (declaration) @definition.variable)
(preproc_ifdef (declaration) @definition.variable)
(preproc_if (declaration) @definition.variable)
(preproc_else (declaration) @definition.variable)
(preproc_elif (declaration) @definition.variable)
(ERROR (declaration) @definition.variable)
(translation_unit (_ (type_qualifier "const")
  declarator: (init_declarator declarator: (identifier))) @definition.constant)
(translation_unit (_ (type_qualifier "const")
  declarator: (init_declarator declarator: (array_declarator))) @definition.constant)
(translation_unit (_ declarator: (init_declarator
  declarator: (pointer_declarator (type_qualifier "const")))) @definition.constant)
(preproc_ifdef (_ (type_qualifier "const")
  declarator: (init_declarator declarator: (identifier))) @definition.constant)
(preproc_ifdef (_ (type_qualifier "const")
  declarator: (init_declarator declarator: (array_declarator))) @definition.constant)
(preproc_ifdef (_ declarator: (init_declarator
  declarator: (pointer_declarator (type_qualifier "const")))) @definition.constant)
(ERROR (function_declarator) @definition.variable)
(ERROR (pointer_declarator (function_declarator)) @definition.variable)
(function_declarator declarator: (identifier) @name.function)
(function_declarator declarator: (parenthesized_declarator (identifier) @name.function))
(struct_specifier name: (_) body: (_)) @definition.struct
(union_specifier name: (_) body: (_)) @definition.union
(enum_specifier name: (_) body: (_)) @definition.enum
(enumerator) @definition.member
(field_declaration) @definition.field
(field_declaration !declarator type: (macro_type_specifier
  type: (type_descriptor type: (type_identifier) @name)))
(type_definition) @definition.type
(type_definition type: (struct_specifier !name body: (_) @body)) @definition.struct
(type_definition type: (union_specifier !name body: (_) @body)) @definition.union
(type_definition type: (enum_specifier !name body: (_) @body)) @definition.enum
(preproc_def) @definition.macro
; An include guard defines nothing; as an import it is left out.
(_ . "#ifndef" . (_) . (preproc_def !value) @import)
(preproc_function_def value: (_)? @body) @definition.macro
; `int PRIV(name)(int x)`: a macro makes the name, since no function returns a function.
(function_declarator declarator: (function_declarator declarator: (identifier)
  parameters: (parameter_list . (parameter_declaration type: (type_identifier) @name @name.function !declarator) .)))
(function_declarator declarator: (function_declarator declarator: [(field_identifier) (type_identifier)]
  parameters: (parameter_list . (parameter_declaration type: (type_identifier) @name !declarator) .)))
(array_declarator declarator: (function_declarator declarator: (identifier)
  parameters: (parameter_list . (parameter_declaration type: (type_identifier) @name @name.variable !declarator) .)))

(storage_class_specifier "static" @private)

; `SYSCALL_DEFINE1(name, int, fd) {...}`: the grammar reads a call, its semicolon missing, and a block.
(translation_unit (expression_statement (call_expression
  arguments: (argument_list . (identifier) @name .)) . ) @definition.function . (compound_statement))
(translation_unit (expression_statement (call_expression
  arguments: (argument_list . (identifier) @owner . (identifier) @name .)) .) @definition.function
  . (compound_statement))
(translation_unit (expression_statement (call_expression
  arguments: (argument_list . (identifier) @name . (identifier) (identifier))) .) @definition.function
  . (compound_statement))

; Docs.
(comment) @comment

; References.
(call_expression function: [
  (identifier) @reference.call
  (field_expression field: (_) @reference.call)
])
(type_identifier) @reference.type
(expression/identifier) @reference.bound
(assignment_expression left: (identifier) @reference.bound)
(preproc_def value: (preproc_arg) @reference.macro)
(preproc_function_def value: (preproc_arg) @reference.macro)
; In the conditions of the preprocessor these are no expressions.
(binary_expression (identifier) @reference.bound)
(unary_expression (identifier) @reference.bound)
(parenthesized_expression (identifier) @reference.bound)
(array_declarator size: (identifier) @reference.bound)
(initializer_list (identifier) @reference.name)
(initializer_pair value: (identifier) @reference.name)
(field_expression field: (field_identifier) @reference.name)
(field_designator (field_identifier) @reference.key)

; Imports.
(preproc_include path: (_) @import.module) @import

; Scopes and bindings.
(function_definition) @scope.function
(compound_statement) @scope.block
(for_statement) @scope.block
(struct_specifier body: (_)) @scope.class
(union_specifier body: (_)) @scope.class
(type_definition) @scope.class
(field_expression argument: (_) @receiver)
(argument_list) @call.arguments
(init_declarator) @bind
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
(function_definition type: (_) @bind.result)
(type_definition type: (_) @bind.alias)
(parameter_declaration declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (identifier) @bind.unknown))))
(declaration declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (identifier) @bind.unknown))))
