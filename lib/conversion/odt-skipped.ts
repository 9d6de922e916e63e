/** Elements that are left out, some of them with a message for users. */
export const SKIPPED_ELEMENTS: Readonly<Record<string, string | undefined>> = {
  "office:annotation": "A comment",
  "draw:object": "An embedded object",
  "draw:object-ole": "An embedded object",
  "office:forms": undefined,
  "office:scripts": undefined,
  "text:tracked-changes": undefined,
  "text:sequence-decls": undefined,
  "text:variable-decls": undefined,
  "text:user-field-decls": undefined,
  "text:table-of-content": undefined,
  "text:illustration-index": undefined,
  "text:alphabetical-index": undefined,
  "text:note-citation": undefined,
  "text:hidden-text": undefined,
  "text:ruby-text": undefined,
};
