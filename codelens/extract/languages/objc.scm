; Definitions, beside those of C. An extension or a category adds to a class.
(class_interface superclass: (_)) @definition.class
(class_interface . (identifier) @name)
(class_interface . (identifier) @owner "(") @scope
(class_interface superclass: (_) @head)
(class_interface (parameterized_arguments) @head)
(class_implementation !category) @definition.class
(class_implementation . (identifier) @name)
(class_implementation . (identifier) @owner category: (_)) @scope
(class_implementation . (identifier) @head)
(protocol_declaration . (identifier) @name) @definition.interface
(protocol_declaration . (identifier) @head)
(protocol_declaration (protocol_reference_list) @head)
(method_declaration) @definition.method @name
(method_definition) @definition.method @name
(method_definition (compound_statement) @body)
(property_declaration) @definition.property
(instance_variable (struct_declaration)) @definition.field
(struct_declarator) @name
(implementation_definition (declaration) @definition.variable)
(class_interface (declaration) @definition.variable)
(translation_unit (declaration declarator: (init_declarator
  value: (block_literal (compound_statement) @body))) @definition.function)
(implementation_definition (declaration declarator: (init_declarator
  value: (block_literal (compound_statement) @body))) @definition.function)
(instance_variable (struct_declaration . (_) @private))

; C between the methods is not the class's.
(implementation_definition (function_definition declarator: (_) @outside))
(implementation_definition (declaration declarator: (_) @outside))
(class_interface (declaration declarator: (_) @outside))

; References.
(class_interface (parameterized_arguments (type_identifier) @type.parameter))
(message_expression) @reference.call.joined
(message_expression receiver: (identifier) @reference.bound)
(class_interface superclass: (identifier) @reference.type)
(class_interface . (identifier) @reference.type "(")
(protocol_reference_list (identifier) @reference.type)
(field_expression argument: (identifier) @reference.bound)

; Imports.
(module_import path: (_) @import.module) @import
