import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import type { ParseOutcome } from "../lib/workflows/schema/parse.ts";
import { CommandFailure } from "./command.ts";
import { readText } from "./flags.ts";

const EXTENSIONS = [".yaml", ".yml"] as const;
/** Workflows that one builds on, all together, at most. */
const FILES_MAX = 200;

export const isWorkflowFile = (path: string): boolean =>
  EXTENSIONS.some((extension) => extname(path) === extension);

/** The files that were named, and those below the folders that were. Throws CommandFailure. */
export function workflowFiles(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    if (path === "-" || !existsSync(path) || !statSync(path).isDirectory()) return [path];
    const found = readdirSync(path, { recursive: true, encoding: "utf8" })
      .filter((name) => isWorkflowFile(name) && !/(?:^|[/\\])\./.test(name))
      .toSorted();
    if (found.length === 0) throw new CommandFailure(`There is no YAML file in ${path}.`);
    return found.map((name) => join(path, name));
  });
}

export interface WorkflowFile {
  readonly path: string;
  readonly text: string;
}

/**
 * A workflow's file, and before it those beside it that it builds on: the one that it extends, and the modules of
 * a flow. What is not beside it is the server's to find. Throws CommandFailure for a file that cannot be read.
 */
export async function withThoseBeside(path: string): Promise<WorkflowFile[]> {
  const { readYaml } = await import("../lib/workflows/schema/yaml-source.ts");
  const files = new Map<string, WorkflowFile>();
  const add = (at: string): void => {
    if (files.has(at) || files.size >= FILES_MAX) return;
    const text = readText(at);
    const file = { path: at, text };
    files.set(at, file);
    const folder = dirname(at);
    const read = readYaml(text);
    for (const name of read.ok ? namedIn(read.source.value) : []) {
      const beside = fileBeside(folder, name);
      if (beside !== undefined) add(beside);
    }
    // Behind those that it builds on.
    files.delete(at);
    files.set(at, file);
  };
  add(path === "-" ? path : resolve(path));
  return [...files.values()];
}

/** Reads a workflow together with the one that it extends, as that lies beside it. */
export function parseBeside(
  parse: typeof import("../lib/workflows/schema/parse.ts").parseDefinition,
  text: string,
  folder: string,
  strict = false,
): ParseOutcome {
  const seen = new Set<string>();
  const parsed = (source: string, options: { strict: boolean }): ParseOutcome => {
    const alone = parse(source, options);
    if (alone.ok || alone.wants === undefined) return alone;
    const path = fileBeside(folder, alone.wants);
    if (path === undefined || seen.has(path)) return alone;
    seen.add(path);
    const parent = parsed(readText(path), { strict: false });
    return parent.ok ? parse(source, { ...options, parent: parent.definition }) : alone;
  };
  return parsed(text, { strict });
}

/** The workflows that one names, as it is written: what is wrong in it is the server's to say. */
function namedIn(workflow: unknown): string[] {
  const { extends: parent, modules } = (workflow ?? {}) as { extends?: unknown; modules?: unknown };
  const paths = (Array.isArray(modules) ? modules : []).map((module: unknown) => {
    const { path, name, steps } = (module ?? {}) as { path?: unknown; name?: unknown; steps?: unknown };
    return steps === undefined ? (path ?? name) : undefined;
  });
  return [parent, ...paths].filter((name) => typeof name === "string");
}

/** Where a flow's path leads from its own folder, else the file of that name there. */
function fileBeside(folder: string, path: string): string | undefined {
  const plain = isWorkflowFile(path) ? path.slice(0, -extname(path).length) : path;
  return [plain, basename(plain), join("modules", basename(plain))]
    .flatMap((name) => EXTENSIONS.map((extension) => resolve(folder, `${name}${extension}`)))
    .find((candidate) => existsSync(candidate));
}
