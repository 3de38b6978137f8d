; Definitions are calls and attributes; the settings identify them (`forms`).
(call target: (identifier) @form.keyword) @form
(unary_operator operator: "@" operand: (call target: (identifier) (arguments))) @form @form.keyword

; Their names: the first argument, called or not, perhaps before a `when` or a `::`.
(_ target: (identifier) (arguments . (alias) @name))
; (Wildcards compile five times faster than the types of expressions.)
(_ "do" (_ target: (identifier) (arguments . (identifier) @name)))
(_ "do" (_ target: (identifier) (arguments . (_ target: (identifier) @name))))
(_ "do" (_ target: (identifier) (arguments . (_ left: (_ target: (identifier) @name) "when"))))
(_ "do" (_ target: (identifier) (arguments . (_ left: (identifier) operator: _ @name))))
(_ "do" (_ target: (identifier) (arguments . (_ left: (_ left: (_) operator: _ @name) "when"))))
(else_block (_ target: (identifier) (arguments . (identifier) @name)))
(else_block (_ target: (identifier) (arguments . (_ target: (identifier) @name))))
(source (_ target: (identifier) (arguments . (identifier) @name)))
(source (_ target: (identifier) (arguments . (_ target: (identifier) @name))))
(source (_ target: (identifier) (arguments . (_ left: (_ target: (identifier) @name) "when"))))
(ERROR (_ target: (identifier) (arguments . (identifier) @name)))
(ERROR (_ target: (identifier) (arguments . (_ target: (identifier) @name))))
(ERROR (_ target: (identifier) (arguments . (_ left: (_ target: (identifier) @name) "when"))))
(unary_operator operand: (_ (arguments . (_ left: (identifier) @name "::"))))
(unary_operator operand: (_ (arguments . (_ left: (_ target: (identifier) @name) "::"))))
(unary_operator operand: (_ (arguments . (_ left: (_ left: (identifier) @name "::") "when"))))
(unary_operator operand: (_ (arguments . (_ left: (_ left: (_ target: (identifier) @name) "::") "when"))))
(_ target: (identifier) (arguments . (string . (quoted_content) @name .)) (do_block))

; Fields of structs.
(_ target: (identifier) (arguments . (list (atom) @name @form.part)))
(_ target: (identifier) (arguments . (list (keywords (pair key: (keyword) @name) @form.part))))
(_ target: (identifier) (arguments . (keywords (pair key: (keyword) @name) @form.part)))

; Their bodies.
(call (do_block) @body)
(_ target: (identifier) (arguments . [(call) (identifier) (binary_operator) (alias)] . (keywords) @body .))

; `defimpl P, for: T`: its content belongs to T.
(_ target: (identifier) (arguments . (alias) @owner (keywords)) (do_block))

; Docs.
(comment) @comment
(unary_operator operator: "@" operand: (call (arguments . [(string) (sigil)] @docstring)))

; References.
(call target: (identifier) @reference.call)
(call target: (dot left: (alias) right: (identifier) @reference.call))
(call target: (dot right: (identifier) @reference.call) (arguments))
(call target: (dot right: (identifier) @reference.name))
(alias) @reference.type
(unary_operator operator: "&" operand: (binary_operator left: (identifier) @reference.call))
(unary_operator operator: "@" operand: (identifier) @reference.bound)
(binary_operator operator: "|>" right: (identifier) @reference.call)

; Imports are calls too, which the settings identify.
(_ target: (identifier) (arguments . (alias) @import.module))
(_ target: (identifier) (arguments . (dot left: (alias) @import.module right: (tuple (alias) @import.name))))
(_ target: (identifier) (arguments (keywords (pair key: (keyword) @import.key value: (alias) @import.value))))
(_ target: (identifier) (arguments (keywords (pair key: (keyword) @import.key value: (list (keywords (pair key: (keyword) @import.value)))))))
