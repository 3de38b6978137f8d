; Definitions: elements with an id.
(start_tag) @extent
(self_closing_tag) @extent
(attribute (attribute_name) @form.keyword) @form
(attribute (quoted_attribute_value (attribute_value) @name))
(attribute (attribute_value) @name)

; References.
(start_tag (tag_name) @reference.bound)
(self_closing_tag (tag_name) @reference.bound)
