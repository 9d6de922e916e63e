import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import type { ParseOutcome } from "../lib/workflows/schema/parse.ts";
import { CommandFailure } from "./errors.ts";
import { readText } from "./files.ts";

const EXTENSIONS = [".yaml", ".yml"] as const;
/** Workflows that one refers to, directly or indirectly. */
const DEPENDENCIES_MAX = 200;

export const isWorkflowFile = (path: string): boolean =>
  EXTENSIONS.some((extension) => extname(path) === extension);

/** Lists files, and the YAML files below folders. Throws CommandFailure for a folder without one. */
export function listWorkflowFiles(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    if (path === "-" || !existsSync(path) || !statSync(path).isDirectory()) return [path];
    const found = readdirSync(path, { recursive: true, encoding: "utf8" })
      .filter((name) => isWorkflowFile(name) && !/(?:^|[/\\])\./.test(name))
      .toSorted();
    if (found.length === 0) throw new CommandFailure(`The folder ${path} contains no YAML file.`);
    return found.map((name) => join(path, name));
  });
}

export interface WorkflowFile {
  readonly path: string;
  readonly text: string;
}

/**
 * Reads a workflow's file and, before it, the files next to it that it refers to: the workflow that it extends, and
 * the modules of a flow. The server resolves other names. Throws CommandFailure if a file cannot be read.
 */
export async function readWithDependencies(path: string): Promise<WorkflowFile[]> {
  const { readYaml } = await import("../lib/workflows/schema/yaml-source.ts");
  const files = new Map<string, WorkflowFile>();
  const add = (at: string): void => {
    if (files.has(at) || files.size >= DEPENDENCIES_MAX) return;
    const text = readText(at);
    const file = { path: at, text };
    files.set(at, file);
    const folder = dirname(at);
    const read = readYaml(text);
    for (const name of read.ok ? referencesOf(read.source.value) : []) {
      const dependency = findNextTo(folder, name);
      if (dependency !== undefined) add(dependency);
    }
    // After its dependencies.
    files.delete(at);
    files.set(at, file);
  };
  add(path === "-" ? path : resolve(path));
  return [...files.values()];
}

/** Parses a workflow; the workflow that it extends is read from a file next to it. */
export function parseWithParent(
  parse: typeof import("../lib/workflows/schema/parse.ts").parseDefinition,
  text: string,
  folder: string,
  strict = false,
): ParseOutcome {
  const visited = new Set<string>();
  const parsed = (source: string, options: { strict: boolean }): ParseOutcome => {
    const alone = parse(source, options);
    if (alone.ok || alone.wants === undefined) return alone;
    const path = findNextTo(folder, alone.wants);
    if (path === undefined || visited.has(path)) return alone;
    visited.add(path);
    const parent = parsed(readText(path), { strict: false });
    return parent.ok ? parse(source, { ...options, parent: parent.definition }) : alone;
  };
  return parsed(text, { strict });
}

/** Names and paths of the workflows that one refers to. The server reports what is invalid. */
function referencesOf(workflow: unknown): string[] {
  const { extends: parent, modules } = (workflow ?? {}) as { extends?: unknown; modules?: unknown };
  const paths = (Array.isArray(modules) ? modules : []).map((module: unknown) => {
    const { path, name, steps } = (module ?? {}) as { path?: unknown; name?: unknown; steps?: unknown };
    return steps === undefined ? (path ?? name) : undefined;
  });
  return [parent, ...paths].filter((name) => typeof name === "string");
}

/** Resolves a path or a name, relative to the folder of the workflow that refers to it. */
function findNextTo(folder: string, path: string): string | undefined {
  const plain = isWorkflowFile(path) ? path.slice(0, -extname(path).length) : path;
  return [plain, basename(plain), join("modules", basename(plain))]
    .flatMap((name) => EXTENSIONS.map((extension) => resolve(folder, `${name}${extension}`)))
    .find((candidate) => existsSync(candidate));
}
