; Definitions. A type signature is the first clause of its function. A constructor with fields spans
; only its name, so that the fields belong to the type.
(header "module" @export module: (module) @name) @definition.module
(declarations (signature name: (_)) @definition.function)
(class_declarations (signature name: (_)) @definition.function)
(class_declarations (signature names: (binding_list name: (_) @name @definition.function)))
(instance_declarations (signature name: (_)) @definition.function)
(ERROR (signature name: (_)) @definition.function)
(function) @definition.function
(function (_ operator: [
  (operator) @name
  (infix_id (variable) @name)
]))
(declarations (bind name: (_)) @definition.function)
(class_declarations (bind name: (_)) @definition.function)
(instance_declarations (bind name: (_)) @definition.function)
(ERROR (bind name: (_)) @definition.function)
(declarations (bind pattern: (tuple element: (variable) @name)) @definition.variable)
(foreign_import (signature) @definition.function) @extent
(pattern_synonym [(signature) (equation)] @definition.function)
(equation synonym: (_ operator: (_) @name))
(data_type) @definition.struct
(data_type constructors: (gadt_constructors)) @definition.enum
(data_type constructors: (data_constructors . (data_constructor) (data_constructor) .)) @definition.enum
(newtype) @definition.struct
(data_constructor constructor: (prefix name: (_) @name)) @definition.member
(data_constructor constructor: (infix operator: (_) @name)) @definition.member
(data_constructor constructor: (record name: (_) @name @definition.member))
(newtype_constructor name: (_) @name @definition.member)
(gadt_constructor type: (prefix)) @definition.member
(gadt_constructor names: (binding_list (constructor) @name @definition.member))
(gadt_constructor name: (_) @name @definition.member type: (record))
(field name: (field_name) @name) @definition.field
(type_synomym) @definition.type
(type_family) @definition.type
(data_family) @definition.type
(class) @definition.trait
(instance "instance" @export) @scope
(instance patterns: (_ [
  (name) @owner
  (_ id: (name) @owner)
  (parens (name) @owner)
  (parens (_ constructor: (name) @owner))
  (parens (_ constructor: (_ constructor: (name) @owner)))
  (parens (_ constructor: (_ constructor: (_ constructor: (name) @owner))))
]))

; Exports. A type is exported with what its list names.
(exports) @export.list
(export [variable: (variable) @export.name operator: (prefix_id (_) @export.name)])
(export type: (name) @export.closed !children)
(export type: (name) @export.closed children: (children element: [(variable) (constructor)]))
(export type: (name) @export.name children: (children (all_names)))
(export children: (children element: [(variable) (constructor)] @export.name))

; Docs.
(comment) @comment
(haddock) @comment

; References.
(apply [
  function: (variable) @reference.call
  function: (qualified) @reference.call
  function: (constructor) @reference.name
  argument: (variable) @reference.bound
  argument: (constructor) @reference.bound
  (name) @reference.type
])
(infix [
  left_operand: (variable) @reference.bound.call
  left_operand: (constructor) @reference.name
  left_operand: (name) @reference.type
  operator: (operator) @reference.bound.call
  operator: (infix_id (_) @reference.call)
  right_operand: (variable) @reference.bound
  right_operand: (constructor) @reference.name
  right_operand: (name) @reference.type
])
(match expression: [(variable) (constructor)] @reference.bound)
(exp [(variable) (constructor)] @reference.bound)
(list [element: (variable) @reference.bound element: (constructor) @reference.bound (name) @reference.type])
(tuple [element: (variable) @reference.bound element: (constructor) @reference.bound (name) @reference.type])
(parens [expression: (variable) @reference.bound expression: (constructor) @reference.bound (name) @reference.type])
(left_section (variable) @reference.bound)
(right_section (variable) @reference.bound)
(field_update expression: (variable) @reference.bound)
(lambda expression: (variable) @reference.bound)
(patterns (constructor) @reference.name)
(alternative pattern: (constructor) @reference.name)
(record expression: (constructor) @reference.name)
(field_update field: (field_name) @reference.name)
(qualified id: [(variable) (constructor)]) @reference.name
(qualified id: (name)) @reference.type
(function (name) @reference.type)
(signature type: (name) @reference.type)
(field type: (name) @reference.type)
(strict_field (name) @reference.type)
(prefix field: (name) @reference.type)
(context (name) @reference.type)
(forall (name) @reference.type)
(type_patterns (name) @reference.type)
(type_synomym type: (name) @reference.type)
(deriving classes: (name) @reference.type)
(instance name: (name) @reference.type)
(deriving_instance name: (name) @reference.type)
(newtype_constructor field: (field (name) @reference.type))
(th_quoted_name type: (name) @reference.type)
(th_quoted_name (variable) @reference.name)

; Imports.
(import module: (module) @import.module) @import
(import "import" @import.all !names)
(import alias: (module) @import.alias)
(import "hiding" @import.key @import.all)
(import_name [
  variable: (variable) @import.value
  operator: (prefix_id (_) @import.value)
  type: (name) @import.value
  (children element: [(variable) (constructor)] @import.value)
])
