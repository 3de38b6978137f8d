; Definitions.
(field_definition) @definition.field
(field_definition value: [
  (arrow_function)
  (function_expression)
]) @definition.method

; References.
(class_heritage [(identifier) (member_expression)] @reference.type)

; Scopes and bindings.
(field_definition) @bind
(class_heritage (_) @bind.base)
