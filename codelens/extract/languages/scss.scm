; Definitions. A rule with several selectors is named by the first.
(rule_set (selectors . (_) @name)) @definition.key
(mixin_statement name: (_) @name) @definition.function
(function_statement name: (_) @name) @definition.function
(keyframes_statement (keyframes_name) @name) @definition.key
(stylesheet (declaration (property_name) @form.keyword @name) @form)
(rule_set (block (declaration (property_name) @form.keyword @name) @form))

; Docs.
(comment) @comment
(js_comment) @comment

; References.
(include_statement . (identifier) @reference.call)
(call_expression (function_name) @reference.bound.call)
(extend_statement (_) @reference.name)
(variable) @reference.bound

; Imports.
(import_statement (string_value) @import.module) @import
(use_statement (string_value) @import.module) @import
(forward_statement (string_value) @import.module) @import
