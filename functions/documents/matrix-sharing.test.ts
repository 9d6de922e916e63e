import { testRows } from "#lib/testing/test-matrix.ts";
import { SHARING_ROWS } from "#lib/testing/test-matrix-sharing.ts";

testRows("who may do what with the accesses of a document", SHARING_ROWS);
