import { describe, expect, it } from "vitest";
import { makeTree } from "../fixture-tree.ts";
import { importGraph } from "./import-graph.ts";
import { IMPORT_RULES } from "./import-rules.ts";
import { checkImports, findUpwardImports } from "./imports.ts";

const MANIFEST = JSON.stringify({ dependencies: { zod: "4", hono: "4" }, devDependencies: { vitest: "5" } });

/** Issues in a tree of these files. Creates the `others`, empty. */
async function checkTree(
  files: Readonly<Record<string, string>>,
  others: readonly string[] = [],
): Promise<string[]> {
  await using tree = await makeTree({
    "package.json": MANIFEST,
    ...Object.fromEntries(others.map((path) => [path, "export {};"])),
    ...files,
  });
  return (await checkImports(tree.root)).map(({ path, rule }) => `${rule} ${path}`);
}

/** For each rule, an import that breaks only that rule. */
const VIOLATIONS: Readonly<Record<string, readonly [from: string, to: string]>> = {
  "workflow-endpoints": ["functions/workflows/runs/list.ts", "lib/documents/tree.ts"],
  "document-endpoints": ["functions/documents/content/read.ts", "lib/workflows/runs.ts"],
  consumers: ["functions/executors/bash.ts", "lib/http/route.ts"],
  "nothing-imports-functions": ["bin/weft.ts", "functions/executors/bash.ts"],
  "nothing-imports-infra": ["localstack/server.ts", "infra/scan.ts"],
  "nothing-imports-localstack": ["examples/demo.ts", "localstack/server.ts"],
  "nothing-imports-bench": ["localstack/server.ts", "bench/harness/load.ts"],
  "bench-on-what-runs": ["bench/emits.ts", "openapi.json"],
  "lib-stands-alone": ["lib/app/compose.ts", "bench/load.ts"],
  "client-in-browsers": ["client/collaboration/provider.ts", "lib/errors.ts"],
  "web-in-browsers": ["web/main.tsx", "lib/errors.ts"],
  "nothing-imports-web": ["localstack/server.ts", "web/build/build.ts"],
  "workflows-not-documents": ["lib/workflows/runs.ts", "lib/documents/tree.ts"],
  "documents-not-workflows": ["lib/collaboration/server.ts", "lib/workflows/runs.ts"],
  "service-ports-by-type": ["lib/workflows/runs.ts", "lib/platform/clock.ts"],
  "events-below-services": ["lib/events/publish.ts", "lib/workflows/runs.ts"],
  "network-below-llm": ["lib/network/fetch-adapter.ts", "lib/llm/complete.ts"],
  "llm-below-services": ["lib/llm/complete.ts", "lib/workflows/runs/table.ts"],
  "index-below-events": ["lib/ranked-index/postings.ts", "lib/events/publish.ts"],
  "http-below-services": ["lib/http/route.ts", "lib/events/publish.ts"],
  "upgrades-know-what-is-stored": ["lib/upgrades/release-state.ts", "lib/workflows/runs.ts"],
  "platform-stands-alone": ["lib/platform/bus.ts", "lib/errors.ts"],
  "below-the-platform": ["lib/mail/smtp.ts", "lib/platform/clock.ts"],
  "app-opens-platforms": ["localstack/server.ts", "lib/platform/embedded/store.ts"],
  "lambda-without-embedded": ["lib/app/aws.ts", "lib/platform/embedded/platform.ts"],
  "aws-on-demand": ["lib/app/local.ts", "lib/platform/aws/platform.ts"],
  "cli-without-services": ["lib/app/cli.ts", "lib/app/compose.ts"],
  "ports-know-no-adapter": ["lib/platform/ports.ts", "lib/platform/contract/tables.ts"],
  "adapters-apart": ["lib/platform/embedded/store.ts", "lib/platform/aws/tables.ts"],
  "aws-apart": ["lib/platform/aws/tables.ts", "lib/platform/embedded/item-codec.ts"],
  "app-above-lib": ["lib/settings.ts", "lib/app/compose.ts"],
  "tables-in-app": ["lib/settings.ts", "lib/tables.ts"],
};

const relative = (from: string, to: string): string => "../".repeat(from.split("/").length - 1) + to;

describe("import rules", () => {
  it.each(Object.entries(VIOLATIONS))("%s", async (rule, [from, to]) => {
    const found = await checkTree({ [from]: `import "./${relative(from, to)}";` }, [to]);

    expect(found).toEqual([`${rule} ${from}`]);
  });

  it("aws-sdk-in-its-adapter, hono-in-the-gateway and optional-packages: restrict packages to a folder or file", async () => {
    const found = await checkTree({
      "lib/workflows/runs.ts":
        'import { SQSClient } from "@aws-sdk/client-sqs";\nimport { Hono } from "hono";',
      "localstack/gateway.ts": 'import { Hono } from "hono/tiny";',
      "lib/conversion/convert.ts": 'import { DOCXExporter } from "@blocknote/xl-docx-exporter";',
      "lib/conversion/editor-writers.ts": 'import { DOCXExporter } from "@blocknote/xl-docx-exporter";',
    });

    expect(found).toEqual([
      "optional-packages lib/conversion/convert.ts",
      "aws-sdk-in-its-adapter lib/workflows/runs.ts",
      "hono-in-the-gateway lib/workflows/runs.ts",
      "declared-packages lib/workflows/runs.ts",
    ]);
  });

  it("are all covered by a test", () => {
    const covered = [
      ...Object.keys(VIOLATIONS),
      "aws-sdk-in-its-adapter",
      "hono-in-the-gateway",
      "optional-packages",
    ];

    expect(IMPORT_RULES.map(({ name }) => name).sort()).toEqual(covered.sort());
  });

  it("detect imports through #lib and dynamic imports", async () => {
    const found = await checkTree(
      {
        "functions/workflows/runs/list.ts": 'import { open } from "#lib/documents/tree.ts";',
        "lib/workflows/runs.ts": 'export const load = () => import("../documents/tree.ts");',
      },
      ["lib/documents/tree.ts"],
    );

    expect(found).toEqual([
      "workflow-endpoints functions/workflows/runs/list.ts",
      "workflows-not-documents lib/workflows/runs.ts",
    ]);
  });

  it("allow a service the types of the ports, the errors and derived ids", async () => {
    const found = await checkTree(
      {
        "lib/workflows/runs.ts": `import type { Clock } from "../platform/clock.ts";
import { ApiError } from "../errors.ts";
import { derivedId } from "../platform/ids.ts";
export type { Page } from "../platform/tables.ts";`,
      },
      ["lib/platform/clock.ts", "lib/errors.ts", "lib/platform/ids.ts", "lib/platform/tables.ts"],
    );

    expect(found).toEqual([]);
  });

  it("count `import { type A }` as a run-time import, which it is after type stripping", async () => {
    const found = await checkTree(
      { "lib/workflows/runs.ts": 'import { type Clock } from "../platform/clock.ts";' },
      ["lib/platform/clock.ts"],
    );

    expect(found).toEqual(["service-ports-by-type lib/workflows/runs.ts"]);
  });

  it("reject types of the other service, inline ones too", async () => {
    const found = await checkTree(
      {
        "lib/workflows/a.ts": 'import type { Tree } from "../documents/tree.ts";',
        "lib/workflows/b.ts": 'export type Tree = import("../documents/tree.ts").Tree;',
      },
      ["lib/documents/tree.ts"],
    );

    expect(found).toEqual([
      "workflows-not-documents lib/workflows/a.ts",
      "workflows-not-documents lib/workflows/b.ts",
    ]);
  });

  it("ignore tests", async () => {
    const found = await checkTree(
      {
        "lib/workflows/runs.test.ts":
          'import "vitest";\nimport "../platform/embedded/store.ts";\nimport "../app/compose.ts";',
      },
      ["lib/platform/embedded/store.ts", "lib/app/compose.ts"],
    );

    expect(found).toEqual([]);
  });

  it("reject a consumer that serves two services", async () => {
    const found = await checkTree(
      { "functions/executors/a.ts": 'import "#lib/workflows/runs.ts";\nimport "#lib/documents/tree.ts";' },
      ["lib/workflows/runs.ts", "lib/documents/tree.ts"],
    );

    expect(found).toEqual(["one-service functions/executors/a.ts"]);
  });
});

describe("folder order", () => {
  const ORDER = { "lib/workflows": ["schema", "store", "runs"] };

  async function checkOrder(files: Readonly<Record<string, string>>): Promise<string[]> {
    const sources = Object.entries(files).map(([path, text]) => ({ path, text }));
    const edges = await importGraph("/", sources);
    return findUpwardImports(edges, new Set(Object.keys(files)), ORDER).map(
      ({ path, rule, message }) => `${rule} ${path} ${message}`,
    );
  }

  it("lets a folder import lower folders", async () => {
    const found = await checkOrder({
      "lib/workflows/runs/start.ts":
        'import "../store/store.ts";\nimport type { Step } from "../schema/types.ts";',
      "lib/workflows/store/store.ts": 'import "./table.ts";\nimport "../schema/parse.ts";',
      "lib/workflows/store/store.test.ts": 'import "../runs/start.ts";',
      "lib/documents/tree/move.ts": 'import "../access/check.ts";',
    });

    expect(found).toEqual([]);
  });

  it("rejects imports of a higher folder, including type imports", async () => {
    const found = await checkOrder({
      "lib/workflows/schema/parse.ts": 'import "../store/table.ts";',
      "lib/workflows/store/store.ts": 'import type { StoredRun } from "../runs/table.ts";',
    });

    expect(found).toEqual([
      "folder-order lib/workflows/schema/parse.ts imports lib/workflows/store/table.ts: schema comes before store in the folder order, so it may not import it",
      "folder-order lib/workflows/store/store.ts imports lib/workflows/runs/table.ts: store comes before runs in the folder order, so it may not import it",
    ]);
  });

  it("rejects folders and imported files that the order omits", async () => {
    const found = await checkOrder({
      "lib/workflows/watches/watch.ts": "export {};",
      "lib/workflows/runs/start.ts": 'import "../commit.ts";',
      "lib/workflows/limits.ts": "export {};",
    });

    const missing = 'is missing from FOLDER_ORDER["lib/workflows"] in infra/checks/import-rules.ts';
    expect(found).toEqual([
      `folder-order lib/workflows/watches ${missing}`,
      `folder-order lib/workflows/commit.ts ${missing}`,
    ]);
  });
});

describe("import cycles", () => {
  it("are reported once each; cycles of type imports are allowed", async () => {
    const found = await checkTree({
      "lib/http/a.ts": 'import "./b.ts";',
      "lib/http/b.ts": 'import "./c.ts";',
      "lib/http/c.ts": 'import "./a.ts";',
      "lib/http/d.ts": 'import type { E } from "./e.ts";\nexport type D = E;',
      "lib/http/e.ts": 'import { D } from "./d.ts";\nexport type E = D;',
    });

    expect(found).toEqual(["no-cycles lib/http/a.ts"]);
  });
});

describe("imported packages and files", () => {
  it("must be declared, as a run-time dependency in shipped code", async () => {
    const found = await checkTree({
      "lib/http/a.ts":
        'import * as z from "zod/v4";\nimport { lost } from "left-pad";\nimport { vi } from "vitest";',
      "infra/a.ts": 'import { vi } from "vitest";\nimport fs from "node:fs";',
    });

    expect(found).toEqual(["declared-packages lib/http/a.ts", "declared-packages lib/http/a.ts"]);
  });

  it("must exist, and be written with their extension", async () => {
    const found = await checkTree({
      "lib/http/a.ts": 'import "./b";\nimport "./b.ts";',
      "lib/http/b.ts": "export {};",
    });

    expect(found).toEqual(["no-missing-files lib/http/a.ts"]);
  });
});

describe("importGraph", () => {
  it("ignores imports in comments and strings", async () => {
    const text =
      '// import "./a.ts";\nconst text = `\nimport "./b.ts";\nimport type { C } from "./c.ts";\n`;\nexport { text };';

    expect(await importGraph("/", [{ path: "lib/x.ts", text }])).toEqual([]);
  });

  it("throws for a file that does not parse", async () => {
    await expect(importGraph("/", [{ path: "lib/x.ts", text: "import {" }])).rejects.toThrow("lib/x.ts");
  });
});
