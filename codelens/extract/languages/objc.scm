; Definitions, in addition to those of C. An extension or a category adds to a class.
(class_interface superclass: (_) @head @reference.type) @definition.class
(class_interface . (identifier) @name)
(class_interface . (identifier) @owner @reference.type "(") @scope
(class_interface (parameterized_arguments (type_identifier)? @type.parameter) @head)
(class_implementation !category) @definition.class
(class_implementation . (identifier) @name)
(class_implementation . (identifier) @owner category: (_)) @scope
(class_implementation . (identifier) @head)
(protocol_declaration . (identifier) @name) @definition.interface
(protocol_declaration . (identifier) @head)
(protocol_declaration (protocol_reference_list) @head)
(method_declaration) @definition.method @name
(method_definition) @definition.method @name
(compound_statement) @body
(property_declaration) @definition.property
(instance_variable (struct_declaration)) @definition.field
(struct_declarator) @name
(implementation_definition (declaration) @definition.variable)
(class_interface (declaration) @definition.variable)
(translation_unit (_ declarator: (init_declarator value: (block_literal))) @definition.function)
(implementation_definition (_ declarator: (init_declarator value: (block_literal))) @definition.function)
(instance_variable (struct_declaration . (_) @private))

; C code between the methods does not belong to the class.
(implementation_definition (_ declarator: (_) @outside))
(class_interface (_ declarator: (_) @outside))

; References.
(message_expression) @reference.call.joined
(message_expression receiver: (identifier) @reference.bound)
(protocol_reference_list (identifier) @reference.type)
(field_expression argument: (identifier) @reference.bound)

; Imports.
(module_import path: (_) @import.module) @import
