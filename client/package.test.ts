import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import type * as client from "./api.ts";

const ROOT = join(import.meta.dirname, "..");
const BUILD_MAX_MS = 120_000;

it("the package calls the API and reports errors, with one dependency", {
  timeout: BUILD_MAX_MS,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), "weft-client-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { dependencies, exports } = JSON.parse(
    await readFile(join(import.meta.dirname, "package.json"), "utf8"),
  ) as { dependencies: object; exports: { ".": { default: string } } };
  expect(Object.keys(dependencies)).toEqual(["openapi-fetch"]);
  await writeFile(join(folder, "package.json"), '{"type": "module"}');
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  await promisify(execFile)(process.execPath, [
    compiler,
    "-p",
    import.meta.dirname,
    "--outDir",
    join(folder, "dist"),
  ]);

  const file = pathToFileURL(join(folder, exports["."].default)).href;
  const { createApiClient, dataOf } = (await import(file)) as typeof client;
  const requests: Request[] = [];
  const api = createApiClient({
    origin: "http://weft.test",
    headers: () => ({ authorization: "Bearer t" }),
    fetch: async (request) => {
      requests.push(request);
      return request.method === "GET"
        ? Response.json({ data: { run_id: "r1" } })
        : Response.json({ error: true, message: "There is no run r2" }, { status: 404 });
    },
  });
  const run = await dataOf(api.GET("/automation/runs/{id}", { params: { path: { id: "r 1" } } }));
  expect(run.data.run_id).toBe("r1");
  expect(requests.map(({ url }) => url)).toEqual(["http://weft.test/automation/runs/r%201"]);
  expect(requests[0]?.headers.get("authorization")).toBe("Bearer t");
  await expect(api.DELETE("/automation/runs/{id}", { params: { path: { id: "r2" } } })).rejects.toMatchObject(
    { status: 404, message: "There is no run r2" },
  );
});
