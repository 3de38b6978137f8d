; Definitions.
(module) @definition.module
(module name: (_) @export)
(module !body "end" @body)
(class name: (_) @name @export) @definition.class
(class !body "end" @body)
(singleton_class body: (_) @body) @scope
(method name: (_) @name) @definition.method
(method !body "end" @body)
(singleton_method object: (_) @export name: (_) @name) @definition.method
(program (singleton_method object: (constant) @owner))
(alias) @definition.method
(assignment left: [
  (constant)
  (left_assignment_list)
  (scope_resolution)
] @export) @definition.constant
(operator_assignment left: (constant)) @definition.constant
(assignment left: [(class_variable) (instance_variable)] @self @private) @definition.field
(operator_assignment left: [
  (class_variable)
  (instance_variable)
] @self @private) @definition.field
(program (assignment left: (global_variable)) @definition.variable)
(assignment left: (identifier) right: (lambda)) @definition.function
(assignment right: (_ block: (_) @body))

; Calls that define, mark or hide something.
(call !receiver method: (identifier) @form.keyword @import.call) @form @import
(body_statement (_ !receiver arguments: (_ (simple_symbol) @name)))
(assignment left: (constant) right: (call receiver: (constant) @form.keyword)) @form
(assignment right: (_ arguments: (_ (simple_symbol) @definition.field @name)))
(body_statement (identifier) @access)

; Docs.
(comment) @comment

; References.
(call method: (_) @reference.call)
(super) @reference.call
(constant) @reference.type
(argument_list (simple_symbol) @reference.bound)
(identifier) @reference.open.call
(alias (identifier) @reference.name)
[(instance_variable) (class_variable)] @reference.variable
(assignment left: (call method: (_) @call.setter))
(left_assignment_list (call method: (_) @call.setter))
(operator_assignment left: (call method: (_) @call.setter))
(call method: (identifier) @call.sending arguments: (argument_list
  . [(simple_symbol) (string)] @reference.sent))
(block_argument (simple_symbol) @reference.sent)

; Syntax that calls a method without its name.
[
  (binary)
  (operator_assignment)
  (unary)
  (element_reference)
  (interpolation . [(identifier) (instance_variable)] .)
] @protocol

; Imports.
(argument_list . (string) @import.module)
(argument_list . (simple_symbol) @import.name . (string) @import.module)

; Scopes and bindings.
[
  (method)
  (singleton_method)
  (lambda)
] @scope.function
[
  (class)
  (module)
  (singleton_class)
] @scope.class
[
  (block)
  (do_block)
] @scope.block
(call receiver: (_) @receiver)
(assignment left: (identifier)) @bind
(assignment left: (instance_variable)) @bind
(assignment left: (class_variable)) @bind
(assignment left: (call receiver: (self))) @bind
(operator_assignment left: (identifier)) @bind
(operator_assignment left: (instance_variable)) @bind
(method_parameters (identifier) @bind.parameter)
(method_parameters (_ name: (identifier) @bind.parameter !value))
(method_parameters (optional_parameter) @bind)
(method_parameters (keyword_parameter value: (_)) @bind)
(block_parameters (identifier) @bind.parameter)
(block_parameters (_ name: (identifier) @bind.parameter))
(lambda_parameters (identifier) @bind.parameter)
(block_parameters (_ name: (identifier) @bind.parameter))
(lambda_parameters (_ name: (identifier) @bind.parameter))
[
  (array_pattern (identifier) @bind.unknown)
  (array_pattern (_ name: (identifier) @bind.unknown))
  (as_pattern name: (identifier) @bind.unknown)
  (destructured_left_assignment (identifier) @bind.unknown)
  (destructured_parameter (identifier) @bind.unknown)
  (exception_variable (identifier) @bind.unknown)
  (find_pattern (identifier) @bind.unknown)
  (find_pattern (_ name: (identifier) @bind.unknown))
  (for pattern: (identifier) @bind.unknown)
  (hash_pattern (_ name: (identifier) @bind.unknown))
  (in_clause pattern: (identifier) @bind.unknown)
  (keyword_pattern key: (hash_key_symbol) @bind.unknown !value)
  (keyword_pattern value: (identifier) @bind.unknown)
  (left_assignment_list (identifier) @bind.unknown)
  (match_pattern pattern: (identifier) @bind.unknown)
  (rest_assignment (identifier) @bind.unknown)
]
(method body: (body_statement (_) @bind.return .))
(singleton_method body: (body_statement (_) @bind.return .))
(method body: (body_statement (_) @bind.return . (rescue)))
(singleton_method body: (body_statement (_) @bind.return . (rescue)))
(method body: (body_statement (_) @bind.return . (ensure)))
(method "=" body: (_) @bind.return)
(singleton_method "=" body: (_) @bind.return)
(return (argument_list . (_) @bind.return .))
(superclass (_) @bind.base)
(class body: (body_statement (call !receiver method: (identifier) arguments: (argument_list [(constant) (scope_resolution)] @bind.implements))))
(module body: (body_statement (call !receiver method: (identifier) arguments: (argument_list [(constant) (scope_resolution)] @bind.implements))))
