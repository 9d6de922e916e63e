import { testRows } from "#lib/testing/test-matrix.ts";
import { THREAD_ROWS } from "#lib/testing/test-matrix-threads.ts";

testRows("who may do what with the threads of a document", THREAD_ROWS);
