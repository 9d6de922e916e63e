import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { LIMITS } from "../lib/platform/limits.ts";
import { toOpenApi } from "./openapi/document.ts";
import { ScanError, scan } from "./scan.ts";
import { countResources, templateText } from "./template/sam-template.ts";
import { toTemplates } from "./template/template.ts";
import { WORKFLOW_SCHEMA_FILE, workflowSchema } from "./workflow-schema.ts";

/** What is written from code. */
export interface Generated {
  /** File name, from the root -> text. */
  readonly files: ReadonlyMap<string, string>;
  /** Functions, and CloudFormation resources after SAM's transform, of each template. */
  readonly sizes: ReadonlyMap<string, { readonly functions: number; readonly resources: number }>;
}

export const OPENAPI_FILE = "openapi.json";

/** CloudFormation takes 500 resources a stack; there must be room left. */
export const RESOURCES_MAX = LIMITS.stackResources.value;

/** Writes nothing: gives the files of the tree at `root`. Throws ScanError. */
export async function generate(root: string): Promise<Generated> {
  const found = await scan(root);
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const templates = [...toTemplates(found)];
  const sizes = new Map(templates.map(([file, template]) => [file, countResources(template)]));
  const faults = [...sizes]
    .filter(([, { resources }]) => resources > RESOURCES_MAX)
    .map(
      ([file, { resources }]) => `${file}: ${resources} resources, at most ${RESOURCES_MAX}: split the stack`,
    );
  if (faults.length > 0) throw new ScanError(faults);
  return {
    files: new Map([
      ...templates.map(([file, template]) => [file, templateText(template)] as const),
      [OPENAPI_FILE, `${JSON.stringify(toOpenApi(found.routes, version), null, 2)}\n`],
      [WORKFLOW_SCHEMA_FILE, `${JSON.stringify(workflowSchema(), null, 2)}\n`],
    ]),
    sizes,
  };
}

/** Names of the files that are not as they would be written. */
export async function staleFiles(root: string, files: Generated["files"]): Promise<string[]> {
  const stale: string[] = [];
  for (const [name, text] of files) {
    const there = await readFile(join(root, name), "utf8").catch(() => undefined);
    if (there !== text) stale.push(name);
  }
  return stale;
}

/** Exit code: 0 where all is as it should be, 1 where it is not. */
async function main(root: string, check: boolean): Promise<number> {
  try {
    const { files, sizes } = await generate(root);
    const stale = await staleFiles(root, files);
    if (!check) {
      for (const name of stale) {
        await mkdir(dirname(join(root, name)), { recursive: true });
        await writeFile(join(root, name), files.get(name) ?? "");
      }
    } else if (stale.length > 0) {
      console.error(`not as the code says: ${stale.join(", ")}. Run: npm run infra:write`);
      return 1;
    }
    for (const [name, { functions, resources }] of sizes) {
      console.log(
        `${name}: ${functions} functions, ${resources} CloudFormation resources of ${RESOURCES_MAX}`,
      );
    }
    if (!check) console.log(stale.length === 0 ? "nothing to write" : `written: ${stale.join(", ")}`);
    return 0;
  } catch (error) {
    console.error(error instanceof ScanError ? error.message : error);
    return 1;
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      check: { type: "boolean", default: false },
      root: { type: "string", default: fileURLToPath(new URL("..", import.meta.url)) },
    },
  });
  process.exitCode = await main(values.root, values.check);
}
