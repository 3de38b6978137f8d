; Shared by implementations and interfaces.

; Definitions. A binding with parameters is a function, even a local one.
(let_binding pattern: (value_name) (parameter)) @definition.function
(let_binding pattern: (parenthesized_operator) (parameter)) @definition.function
(let_binding pattern: (value_name) body: [(fun_expression) (function_expression)]) @definition.function
(let_binding pattern: (parenthesized_operator) body: [(fun_expression) (function_expression)]) @definition.function
(value_specification [(value_name) (parenthesized_operator)] @name) @definition.variable
(value_specification type: (function_type)) @definition.function
(let_binding pattern: (string (string_content) @name)) @definition.function
(let_binding pattern: (unit)) @definition.function
(external [(value_name) (parenthesized_operator)] @name) @definition.function
(type_definition) @extent
(type_binding name: (type_constructor)) @definition.type
(type_binding name: (type_constructor) body: (record_declaration)) @definition.struct
(type_binding name: (type_constructor) body: (variant_declaration)) @definition.enum
(type_binding name: (type_constructor) equation: (polymorphic_variant_type) @body) @definition.enum
(type_binding name: (type_constructor) equation: (polymorphic_variant_type
  (tag_specification (tag) @name) @definition.member))
(type_binding name: (type_constructor_path) @owner) @scope
(variant_declaration (constructor_declaration) @definition.member)
(constructor_declaration . (constructor_name) @name)
(constructor_declaration . "(" (constructor_name) @name)
(field_declaration (field_name) @name) @definition.field
(exception_definition (constructor_declaration)) @definition.type
(module_definition) @extent
(module_binding (module_name) @name) @definition.module
(module_type_definition (module_type_name) @name) @definition.interface
(class_definition) @extent
(class_binding (class_name) @name) @definition.class
(class_type_definition) @extent
(class_type_binding (class_type_name) @name) @definition.interface
(method_definition (method_name) @name) @definition.method
(method_specification (method_name) @name) @definition.method
(instance_variable_definition (instance_variable_name) @name) @definition.field
(instance_variable_specification (instance_variable_name) @name) @definition.field
(method_definition "private" @private)
(method_specification "private" @private)

; Docs.
(comment) @comment

; References.
(application_expression function: (value_path) @reference.call)
(method_invocation method: (method_name) @reference.call)
(new_expression (class_path) @reference.call)
(inheritance_definition class: (class_path) @reference.type)
(value_path (module_path)) @reference.name
(application_expression argument: (value_path . (value_name) @reference.bound))
(labeled_argument expression: (value_path . (value_name) @reference.bound))
(infix_expression left: (value_path . (value_name) @reference.bound))
(infix_expression right: (value_path . (value_name) @reference.bound))
(let_binding body: (value_path . (value_name) @reference.bound))
(match_case body: (value_path . (value_name) @reference.bound))
(tuple_expression (value_path . (value_name) @reference.bound))
(list_expression (value_path . (value_name) @reference.bound))
(field_expression body: (value_path . (value_name) @reference.bound))
(infix_expression operator: (_) @reference.bound.call)
(value_definition (let_operator) @reference.bound.call)
(constructor_path) @reference.name
(type_constructor_path) @reference.type
(class_type_path) @reference.type
(module_type_path) @reference.type
(module_application functor: (module_path) @reference.call)
(module_application argument: (parenthesized_module_expression (module_path) @reference.name))
(module_path (module_name) @reference.name)

; Imports.
(open_module "open" @import.all module: (module_path) @import.module) @import
(include_module "include" @import.all module: (module_path) @import.module) @import
(include_module "include" @import.all
  module: (module_application functor: (module_path) @import.module)) @import
(include_module_type "include" @import.all module_type: (module_type_path) @import.module) @import
(include_module_type "include" @import.all
  module_type: (module_type_of (module_path) @import.module)) @import
