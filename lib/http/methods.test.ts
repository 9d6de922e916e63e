import { expect, it } from "vitest";
import { methodsAt } from "./methods.ts";

const paths = {
  "/api/things": { get: {}, post: {} },
  "/api/things/{id}": { get: { security: [{}] }, delete: {} },
  "/api/things/all": { get: { security: [] } },
};

it("finds the methods of a path; the most specific one matches", () => {
  expect(methodsAt(paths, "/api/things")).toEqual({ methods: ["GET", "POST"], needsToken: true });
  expect(methodsAt(paths, "/api/things/7/")).toEqual({ methods: ["GET", "DELETE"], needsToken: false });
  expect(methodsAt(paths, "/api/things/all")).toEqual({ methods: ["GET"], needsToken: false });
});

it.each(["/api", "/api/things/", "/api/things//", "/api/things/7/8", "/constructor", "/"])(
  "ignores a slash at the end of a path, and no other difference: %s",
  (path) => {
    expect(methodsAt(paths, path)?.methods).toEqual(path === "/api/things/" ? ["GET", "POST"] : undefined);
  },
);
