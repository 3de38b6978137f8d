; Cells: the objects in the lists of the outermost object.
(document (object (pair value: (array (object) @embedded.cell))))
