; Definitions. The parent nodes exclude assignments in functions.
(function_definition) @definition.function
(class_definition) @definition.class
(type_alias_statement
  left: (type [(identifier) @name (generic_type . (identifier) @name)])) @definition.type
(assignment left: [
  (identifier)
  (pattern_list)
  (tuple_pattern)
  (list_pattern)
]) @definition.variable
(assignment left: (identifier) right: (lambda)) @definition.function
(assignment left: (attribute object: (identifier) @self attribute: (identifier) @name)) @definition.field
(assignment left: (pattern_list (attribute
  object: (identifier) @self attribute: (identifier) @name))) @definition.field
(assignment type: (type [(identifier) (attribute)] @hint))
(assignment right: (call) @hint)
(decorated_definition) @extent
(decorator) @decorator
(decorated_definition (decorator [(identifier) (attribute)] @hint))
(class_definition superclasses: (argument_list [(identifier) (attribute)] @hint))

; A module exports exactly the names in `__all__`.
(assignment left: (identifier) right: [(list) (tuple) (expression_list)] @scope)
(assignment left: (identifier) right: [
  (expression_list (string (string_content) @export.name))
  (list (string (string_content) @export.name))
  (tuple (string (string_content) @export.name))
])
(augmented_assignment left: (identifier) right: (list) @scope)
(augmented_assignment left: (identifier) right: (list (string (string_content) @export.name)))
(assignment right: [
  (expression_list (string (string_content) @reference.listed))
  (list (string (string_content) @reference.listed))
  (tuple (string (string_content) @reference.listed))
])
(augmented_assignment right: (list (string (string_content) @reference.listed)))

; Docs.
(comment) @comment
(block . (string) @docstring)

; References.
(call function: [
  (identifier) @reference.call
  (attribute attribute: (identifier) @reference.call)
])
; `getattr(a, "b")`, `patch.object(A, "b")`
(call arguments: (argument_list (string) @reference.sent))
(decorator [(identifier) (attribute)] @reference.name)
(class_definition superclasses: (argument_list [(identifier) (attribute)] @reference.type))
(class_definition superclasses: (argument_list
  (subscript value: [(identifier) (attribute)] @reference.type)))
(type [(identifier) (attribute)] @reference.type)
(generic_type . (identifier) @reference.type)
(_ type_parameters: (type_parameter (type [
  (identifier) @type.parameter
  (constrained_type . (type (identifier) @type.parameter))
  (splat_type (identifier) @type.parameter)
])))
(type_alias_statement left: (type (generic_type
  (type_parameter (type (identifier) @type.parameter)))))
(type (subscript value: (attribute) @reference.type))
(type (binary_operator [(identifier) (attribute)] @reference.type))
(typed_parameter type: (type (string (string_content) @reference.type)))
(typed_default_parameter type: (type (string (string_content) @reference.type)))
(function_definition return_type: (type (string (string_content) @reference.type)))
(assignment type: (type (string (string_content) @reference.type)))
(except_clause value: [(identifier) (attribute)] @reference.type)
(except_clause value: (tuple [(identifier) (attribute)] @reference.type))
(except_clause value: (as_pattern . [
  (identifier) @reference.type
  (attribute) @reference.type
  (tuple [(identifier) (attribute)] @reference.type)
]))

(class_pattern . (dotted_name) @reference.type)
(keyword_pattern . (identifier) @reference.key)
(keyword_argument name: (identifier) @reference.key @argument.named)
(case_pattern (dotted_name (identifier) . (identifier)) @reference.name)
[
  (class_pattern . (dotted_name . (identifier) @reference.bound . (identifier)))
  (case_pattern (dotted_name . (identifier) @reference.bound . (identifier)))
]

(primary_expression/identifier) @reference.bound
; What a function sets after `global a`.
(pattern/identifier) @reference.bound
[
  (primary_expression/attribute attribute: (identifier) @reference.name)
  (pattern/attribute attribute: (identifier) @reference.name)
]

; Syntax that calls a method without its name.
[
  (module)
  (with_item)
  (for_statement right: [(identifier) (attribute) (call)])
  (for_in_clause right: [(identifier) (attribute) (call)])
  (subscript value: [(identifier) (attribute) (call)])
  (binary_operator left: [(identifier) (attribute) (call)])
  (augmented_assignment left: [(identifier) (attribute)])
  (comparison_operator (identifier))
  (comparison_operator (attribute))
] @protocol

; Imports.
(import_statement) @import
(import_from_statement) @import
(import_statement name: (dotted_name) @import.module)
(import_statement name: (aliased_import
  name: (dotted_name) @import.module alias: (identifier) @import.alias))
(import_from_statement module_name: (_) @import.module)
(import_from_statement name: (dotted_name) @import.name)
(import_from_statement name: (aliased_import
  name: (dotted_name) @import.name alias: (identifier) @import.alias))
(wildcard_import) @import.all
(call function: [(identifier) (attribute)] @import.call
  arguments: (argument_list . (string
    . (string_start) . (string_content) @import.module . (string_end)) @import.late)) @import

; Scopes and bindings.
(function_definition) @scope.function
(lambda) @scope.function
(class_definition) @scope.class
(list_comprehension) @scope.block
(set_comprehension) @scope.block
(dictionary_comprehension) @scope.block
(generator_expression) @scope.block
(attribute) @chain
(assignment) @bind
(named_expression) @bind
(for_statement) @bind.each
(for_in_clause) @bind.each
(with_item (as_pattern) @bind.with)
(except_clause (as_pattern) @bind.caught)
(case_pattern (as_pattern) @bind.unknown)
(parameters (_) @bind.parameter)
(lambda_parameters (_) @bind.parameter)
(global_statement (identifier) @bind.global)
(case_pattern (dotted_name . (identifier) @bind.unknown .))
(splat_pattern (identifier) @bind.unknown)
(function_definition return_type: (type) @bind.result)
(return_statement (_) @bind.return)
(lambda body: (_) @bind.return)
(yield) @bind.yield
(yield . "yield" . (_) @bind.yielded)
; In a branch it would apply only there.
(function_definition body: (block (assert_statement . (call
  function: (identifier)
  arguments: (argument_list . (_) . [(identifier) (attribute)] .)) @bind.asserted)))
(if_statement condition: [
  (call function: (identifier)) @bind.asserted
  (not_operator argument: (call function: (identifier)) @bind.asserted)
  (boolean_operator left: (call function: (identifier)) @bind.asserted operator: "and")
])
(elif_clause condition: (call function: (identifier)) @bind.asserted)
(class_definition superclasses: (argument_list (_) @bind.base))
