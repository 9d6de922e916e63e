import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import * as z from "zod";
import { findEditorWriters, isMissingPackages, licenseNotice } from "../lib/conversion/editor-packages.ts";
import { LIMITS } from "../lib/platform/limits.ts";
import { readSetting } from "../lib/settings/read.ts";
import { workflow } from "../lib/workflows/schema/schema.ts";
import { apiTypes } from "./openapi/api-types.ts";
import { toOpenApi } from "./openapi/document.ts";
import { ScanError, scanFunctions } from "./scan.ts";
import { countResources, templateText } from "./template/sam-template.ts";
import { toTemplates } from "./template/template.ts";

const WORKFLOW_SCHEMA_FILE = "examples/workflow.schema.json";

/** The JSON Schema that editors use to validate and complete workflow files. */
function workflowSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(workflow, { io: "input", unrepresentable: "any" });
  return { title: "Weft workflow", ...schema };
}

/** The files generated from code. */
export interface Generated {
  /** File name relative to the root -> text. */
  readonly files: ReadonlyMap<string, string>;
  /** Functions and CloudFormation resources, after SAM's transform, of each template. */
  readonly sizes: ReadonlyMap<string, { readonly functions: number; readonly resources: number }>;
}

export const OPENAPI_FILE = "openapi.json";

/** The types of the typed client. */
const API_TYPES_FILE = "client/api-types.ts";

/** CloudFormation allows 500 resources per stack; this leaves some room. */
export const RESOURCES_MAX = LIMITS.stackResources.value;

/**
 * Generates the files of the tree at `root` without writing them. With `publishAsMit: false` the templates build the
 * editor's writers, too. Throws ScanError.
 */
export async function generateFiles(
  root: string,
  options: { readonly publishAsMit: boolean } = { publishAsMit: true },
): Promise<Generated> {
  const found = await scanFunctions(root);
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const templates = [...toTemplates(found, options)];
  const sizes = new Map(templates.map(([file, template]) => [file, countResources(template)]));
  const issues = [...sizes]
    .filter(([, { resources }]) => resources > RESOURCES_MAX)
    .map(
      ([file, { resources }]) => `${file}: ${resources} resources, at most ${RESOURCES_MAX}: split the stack`,
    );
  if (issues.length > 0) throw new ScanError(issues);
  const openapi = toOpenApi(found.routes, version);
  return {
    files: new Map([
      ...templates.map(([file, template]) => [file, templateText(template)] as const),
      [OPENAPI_FILE, `${JSON.stringify(openapi, null, 2)}\n`],
      [API_TYPES_FILE, await apiTypes(openapi)],
      [WORKFLOW_SCHEMA_FILE, `${JSON.stringify(workflowSchema(), null, 2)}\n`],
    ]),
    sizes,
  };
}

/** Names of the files whose content is outdated. */
export async function findStaleFiles(root: string, files: Generated["files"]): Promise<string[]> {
  const stale: string[] = [];
  for (const [name, text] of files) {
    const there = await readFile(join(root, name), "utf8").catch(() => undefined);
    if (there !== text) stale.push(name);
  }
  return stale;
}

/** Exit code: 0 if the files are up to date or were written, 1 otherwise. */
async function main(root: string, check: boolean): Promise<number> {
  try {
    const publishAsMit = readSetting(process.env, "PUBLISH_AS_MIT");
    const writers = findEditorWriters({ publishAsMit });
    const { files, sizes } = await generateFiles(root, { publishAsMit });
    const stale = await findStaleFiles(root, files);
    if (!check) {
      for (const name of stale) {
        await mkdir(dirname(join(root, name)), { recursive: true });
        await writeFile(join(root, name), files.get(name) ?? "");
      }
    } else if (stale.length > 0) {
      console.error(`outdated: ${stale.join(", ")}. Run: npm run infra:write`);
      return 1;
    }
    for (const [name, { functions, resources }] of sizes) {
      console.log(
        `${name}: ${functions} functions, ${resources} CloudFormation resources of ${RESOURCES_MAX}`,
      );
    }
    if (writers !== undefined) console.log(licenseNotice(writers));
    if (!check) console.log(stale.length === 0 ? "up to date" : `written: ${stale.join(", ")}`);
    return 0;
  } catch (error) {
    console.error(error instanceof ScanError || isMissingPackages(error) ? error.message : error);
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
