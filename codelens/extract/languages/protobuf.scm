; Definitions.
(package (full_ident) @name) @definition.module
(message (message_name) @name) @definition.struct
(message (message_body) @body)
(enum (enum_name) @name) @definition.enum
(enum (enum_body) @body)
(service (service_name) @name) @definition.interface
(service "{" @body)
(rpc (rpc_name) @name) @definition.method
(rpc "{" @body)
(enum_field . (identifier) @name) @definition.member
(field (identifier) @name) @definition.field
(map_field (identifier) @name) @definition.field
(oneof (identifier) @name) @definition.field
(oneof "{" @body)
(oneof_field (identifier) @name) @definition.field
(extend (full_ident) @owner) @scope

; Docs.
(comment) @comment

; References.
(message_or_enum_type) @reference.type
(extend (full_ident) @reference.type)

; Imports.
(import path: (string) @import.module) @import
