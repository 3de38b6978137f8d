; Definitions. A type signature is the first clause of its function. A constructor with fields is
; its name alone, so that the fields belong to the type.
(header "module" @export module: (module) @name) @definition.module
(declarations (signature name: (_)) @definition.function)
(class_declarations (signature name: (_)) @definition.function)
(class_declarations (signature names: (binding_list name: (_) @name @definition.function)))
(instance_declarations (signature name: (_)) @definition.function)
(ERROR (signature name: (_)) @definition.function)
(function) @definition.function
(function (infix operator: [
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
(equation synonym: (infix operator: (_) @name))
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
(instance patterns: (type_patterns (name) @owner))
(instance patterns: (type_patterns (qualified id: (name) @owner)))
(instance patterns: (type_patterns (parens (name) @owner)))
(instance patterns: (type_patterns (parens (apply constructor: (name) @owner))))
(instance patterns: (type_patterns (parens (apply constructor: (apply constructor: (name) @owner)))))
(instance patterns: (type_patterns
  (parens (apply constructor: (apply constructor: (apply constructor: (name) @owner))))))

; Exports. A type is exported with what its list names.
(exports) @export.list
(export variable: (variable) @export.name)
(export operator: (prefix_id (_) @export.name))
(export type: (name) @export.closed !children)
(export type: (name) @export.closed children: (children element: [(variable) (constructor)]))
(export type: (name) @export.name children: (children (all_names)))
(export children: (children element: [(variable) (constructor)] @export.name))

; Docs.
(comment) @comment
(haddock) @comment

; References.
(apply function: [(variable) (qualified)] @reference.call)
(apply function: (constructor) @reference.name)
(infix operator: [
  (operator) @reference.bound.call
  (infix_id (_) @reference.call)
])
(infix left_operand: (variable) @reference.bound.call)
(infix right_operand: (variable) @reference.bound)
(apply argument: [(variable) (constructor)] @reference.bound)
(match expression: [(variable) (constructor)] @reference.bound)
(exp [(variable) (constructor)] @reference.bound)
(list element: [(variable) (constructor)] @reference.bound)
(tuple element: [(variable) (constructor)] @reference.bound)
(parens expression: [(variable) (constructor)] @reference.bound)
(left_section (variable) @reference.bound)
(right_section (variable) @reference.bound)
(field_update expression: (variable) @reference.bound)
(lambda expression: (variable) @reference.bound)
(infix [left_operand: (constructor) right_operand: (constructor)] @reference.name)
(patterns (constructor) @reference.name)
(alternative pattern: (constructor) @reference.name)
(record expression: (constructor) @reference.name)
(field_update field: (field_name) @reference.name)
(qualified id: [(variable) (constructor)]) @reference.name
(qualified id: (name)) @reference.type
(apply (name) @reference.type)
(function (name) @reference.type)
(signature type: (name) @reference.type)
(field type: (name) @reference.type)
(strict_field (name) @reference.type)
(prefix field: (name) @reference.type)
(infix [left_operand: (name) right_operand: (name)] @reference.type)
(parens (name) @reference.type)
(tuple (name) @reference.type)
(list (name) @reference.type)
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
(import_name variable: (variable) @import.value)
(import_name operator: (prefix_id (_) @import.value))
(import_name type: (name) @import.value)
(import_name (children element: [(variable) (constructor)] @import.value))
