; Definitions are lists; the settings identify them by their first word (`forms`).
(list_lit . (sym_lit) @form.keyword . [(sym_lit) (quoting_lit)]) @form
(list_lit . (kwd_lit) @form.keyword) @form
(meta_lit (kwd_lit) @form @form.keyword)
(meta_lit (map_lit (kwd_lit) @form @form.keyword))

; Their names.
(list_lit . (sym_lit) . (sym_lit name: (sym_name) @name))

; Methods of protocols, fields and methods of records.
(list_lit . (sym_lit) . (sym_lit) (list_lit . (sym_lit name: (sym_name) @name @hint) . (vec_lit)) @form.part)
(list_lit . (sym_lit) . (sym_lit) . (vec_lit (sym_lit) @form.part))

; Their bodies: after the arguments, or the first of several arities, or the value.
(list_lit (vec_lit) . (_) @body)
(list_lit . (sym_lit) . (sym_lit) . (list_lit) @body)
(list_lit . (sym_lit) . (sym_lit) . (comment) . (list_lit) @body)
(list_lit . (sym_lit) . (sym_lit) . (str_lit) . (list_lit) @body)
(list_lit . (sym_lit) . (sym_lit) . (str_lit) . (map_lit) . (list_lit) @body)
(list_lit . (sym_lit) . (sym_lit) . [
  (vec_lit)
  (map_lit)
  (set_lit)
  (quoting_lit)
  (syn_quoting_lit)
  (anon_fn_lit)
  (read_cond_lit)
  (tagged_or_ctor_lit)
] @body .)
(list_lit . (sym_lit) . (sym_lit) . (str_lit) . [
  (vec_lit)
  (map_lit)
  (set_lit)
  (quoting_lit)
  (syn_quoting_lit)
  (anon_fn_lit)
  (read_cond_lit)
  (tagged_or_ctor_lit)
] @body .)

; Docs. Like a comment, a docstring is not part of a signature.
(comment) @comment
(list_lit . (sym_lit) . (sym_lit) . (str_lit) @docstring @comment . (_))
(list_lit . (sym_lit) . (sym_lit) . (str_lit) . (map_lit) @comment . (_))
(source (list_lit . (sym_lit) . (sym_lit) . (str_lit) @docstring . (list_lit . (kwd_lit))))

; References.
(list_lit . (sym_lit name: (sym_name) @reference.call))
(anon_fn_lit . (sym_lit name: (sym_name) @reference.call))
(var_quoting_lit (sym_lit name: (sym_name) @reference.name))
(sym_lit name: (sym_name) @reference.bound)
(sym_lit namespace: (sym_ns) name: (sym_name) @reference.name)
(meta_lit (sym_lit name: (sym_name) @reference.type))

; Imports.
(list_lit . (kwd_lit) (sym_lit) @import.module)
(list_lit . (kwd_lit) (vec_lit . [(sym_lit) (str_lit)] @import.module))
(quoting_lit (vec_lit . [(sym_lit) (str_lit)] @import.module))
(quoting_lit (sym_lit) @import.module)
(list_lit . (kwd_lit) (list_lit . (sym_lit) @import.module))
(list_lit . (kwd_lit) (list_lit . (sym_lit) (sym_lit) @import.value))
(list_lit . (kwd_lit) (vec_lit . (sym_lit) (sym_lit) @import.value))
(vec_lit . [(sym_lit) (str_lit)] (kwd_lit) @import.key)
(vec_lit . [(sym_lit) (str_lit)] (kwd_lit) . (sym_lit) @import.value)
(vec_lit . [(sym_lit) (str_lit)] (kwd_lit) . (vec_lit (sym_lit) @import.value))
(vec_lit . [(sym_lit) (str_lit)] (kwd_lit) . (list_lit (sym_lit) @import.value))
