; Definitions. Adjacent clauses of one name are one symbol.
(module_attribute) @definition.module
(fun_decl) @definition.function
(callback) @definition.function
(type_alias) @definition.type
(opaque) @definition.type
(nominal) @definition.type
(record_decl) @definition.struct
(record_decl fields: (record_field) @definition.field)
(pp_define) @definition.macro
(spec) @decorator
(wild_attribute) @form @form.keyword
(wild_attribute value: (string) @docstring)

; Exports. A header file has no list and exports all.
(module_attribute) @export.list
(export_attribute funs: (fa fun: (atom) @export.name))
(export_type_attribute types: (fa fun: (atom) @export.name))
(module_attribute "module" @export)
(callback "callback" @export)

; Docs.
(comment) @comment

; References.
(call expr: (atom) @reference.call)
(call expr: (remote fun: (atom) @reference.call))
(call expr: (macro_call_expr name: (_) @reference.call))
(macro_call_expr name: (_) @reference.call)
(internal_fun fun: (atom) @reference.call)
(external_fun fun: (atom) @reference.call)
(record_name name: (_) @reference.type)
(type_alias ty: (call expr: (atom) @reference.type))
(pipe (call expr: (atom) @reference.type))
(remote_module module: (atom) @reference.name)

; Imports.
(import_attribute module: (atom) @import.module) @import
(import_attribute funs: (fa fun: (atom) @import.name))
(behaviour_attribute name: (atom) @import.module) @import
(pp_include "include" @import.all file: (string) @import.module) @import
(pp_include_lib "include_lib" @import.all file: (string) @import.module) @import
