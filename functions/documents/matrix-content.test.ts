import { testRows } from "#lib/testing/test-matrix.ts";
import { CONTENT_ROWS } from "#lib/testing/test-matrix-content.ts";

testRows("who may do what with the content of a document", CONTENT_ROWS, {
  converter: { convert: async () => ({ ok: true, value: "[]" }) },
});
