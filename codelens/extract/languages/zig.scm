; Definitions. The text of a declaration shows its kind (`forms`), because patterns that go down
; this grammar's long chains of expressions take half a second to compile. `pub` precedes the
; declaration as a separate node.
"pub" @lead @decorator @export
(Decl) @definition.variable
(Decl (VarDecl "const")) @definition.constant
(_ (VarDecl) @form.keyword) @form
(_ (FnProto function: (_)) @form.keyword) @form
(VarDecl variable_type_function: (IDENTIFIER) @name @import.alias)
(FnProto function: (IDENTIFIER) @name)
"export" @export
(Block) @body
(ContainerDeclType) @head
(_ "=" . (ErrorUnionExpr !exception . (SuffixExpr . (ErrorSetDecl
  field_constant: (IDENTIFIER) @name @definition.member @export))))
(ContainerField field_member: (IDENTIFIER) @name) @definition.field @export
(ContainerDecl (ContainerDeclType ["enum" "union"])
  (ContainerField !field_member . (doc_comment)? . (ErrorUnionExpr) @name)
  @definition.variable @export)
(TestDecl "test" @outside [(STRINGLITERALSINGLE) (IDENTIFIER)] @name) @definition.function

; Docs.
(doc_comment) @comment
(line_comment) @comment
(ContainerField (doc_comment) @docstring)
(container_doc_comment) @docstring.inside

; References.
(SuffixExpr variable_type_function: (IDENTIFIER) @reference.bound)
(SuffixExpr variable_type_function: (IDENTIFIER) @reference.call . (FnCallArguments))
(FieldOrFnCall function_call: (IDENTIFIER) @reference.call)
(FieldOrFnCall field_access: (IDENTIFIER) @reference.bound)
(SuffixExpr field_constant: (IDENTIFIER) @reference.name)
(ParamType (ErrorUnionExpr) @reference.type)
(ContainerField ":" . (ErrorUnionExpr) @reference.type)
(ParamDecl "comptime" parameter: (IDENTIFIER) @type.parameter)

; Imports.
(SuffixExpr . (BUILTINIDENTIFIER) @import.call (FnCallArguments)) @import
(SuffixExpr (FieldOrFnCall field_access: (IDENTIFIER) @import.name) .)
(STRINGLITERALSINGLE) @import.module
(Decl "usingnamespace" @import.all) @import
