import { describe, expect, it } from "vitest";
import { registeredRoutes, testRows } from "#lib/testing/test-matrix.ts";
import { CONTENT_ROWS } from "#lib/testing/test-matrix-content.ts";
import { DOCUMENT_ROWS } from "#lib/testing/test-matrix-documents.ts";
import { SHARING_ROWS } from "#lib/testing/test-matrix-sharing.ts";
import { THREAD_ROWS } from "#lib/testing/test-matrix-threads.ts";

describe("the permission matrix", () => {
  it("contains exactly the endpoints of a document", async () => {
    const routes = await registeredRoutes();
    const rows = [...DOCUMENT_ROWS, ...CONTENT_ROWS, ...SHARING_ROWS, ...THREAD_ROWS];
    const ofDocuments = [...routes.keys()].filter((name) => /^\w+ \/documents\/\{/.test(name));
    expect(ofDocuments.length).toBeGreaterThan(40);
    expect([...new Set(rows.map(({ endpoint }) => endpoint))].toSorted()).toEqual(ofDocuments.toSorted());
  });
});

testRows("who may do what with a document", DOCUMENT_ROWS);
