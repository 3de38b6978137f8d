; Definitions.
(object_type_definition (name) @name) @definition.struct
(interface_type_definition (name) @name) @definition.interface
(input_object_type_definition (name) @name) @definition.struct
(enum_type_definition (name) @name) @definition.enum
(union_type_definition (name) @name) @definition.union
(scalar_type_definition (name) @name) @definition.type
(directive_definition (name) @name) @definition.function
(field_definition (name) @name) @definition.field
(input_fields_definition (input_value_definition (name) @name) @definition.field)
(enum_value_definition (enum_value) @name) @definition.member
(operation_definition (name) @name) @definition.function
(fragment_definition (fragment_name) @name) @definition.type
(object_type_extension (name) @owner) @scope
(interface_type_extension (name) @owner) @scope
(input_object_type_extension (name) @owner) @scope
(enum_type_extension (name) @owner) @scope
(fields_definition) @body
(input_fields_definition) @body
(enum_values_definition) @body
(selection_set) @body

; Docs.
(description) @docstring @decorator
(comment) @comment

; References.
(named_type) @reference.type
(object_type_extension (name) @reference.type)
(interface_type_extension (name) @reference.type)
(input_object_type_extension (name) @reference.type)
(enum_type_extension (name) @reference.type)
(fragment_spread (fragment_name) @reference.type)
(directive (name) @reference.call)
(field (name) @reference.name)
