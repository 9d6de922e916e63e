import { readFile } from "node:fs/promises";
import { basename, extname, relative } from "node:path";
import type { FSWatcher } from "chokidar";
import type { Log } from "../../platform/log.ts";
import { describeProblem } from "../definition/problems.ts";
import { lintDefinition } from "./lint.ts";
import { parseStored, saveWithHeirs } from "./save-text.ts";
import { allWorkflows, type DefinitionDeps, deleteWorkflow } from "./store.ts";

const EXTENSIONS: ReadonlySet<string> = new Set([".yaml", ".yml"]);
/** A file is read once it has not changed for so long, milliseconds. */
const SETTLED_MS = 100;

export type FolderDeps = DefinitionDeps & { readonly log: Log };

export interface WorkflowFolder {
  close(): Promise<void>;
}

/**
 * Keeps the stored workflows in line with a folder of YAML files: reads all of it, then watches it. A file
 * that does not hold a workflow is reported and leaves what was stored before. A file that is gone takes its
 * workflow with it.
 */
export async function openWorkflowFolder(deps: FolderDeps, folder: string): Promise<WorkflowFolder> {
  const { watch } = await import("chokidar");
  const watcher: FSWatcher = watch(folder, {
    ignored: (path, stats) =>
      (stats?.isFile() === true && !EXTENSIONS.has(extname(path))) || basename(path).startsWith("."),
    awaitWriteFinish: { stabilityThreshold: SETTLED_MS, pollInterval: 25 },
  });
  const seen = new Set<string>();
  /** Files whose workflow extends one that is not there, and its name. */
  const waiting = new Map<string, string>();
  let work = Promise.resolve();
  const queue = (task: () => Promise<void>): void => {
    work = work.then(task).catch((error: unknown) => deps.log.error("workflow folder", { error }));
  };
  const load = (path: string): void =>
    queue(async () => {
      seen.add(relative(folder, path));
      await loadAndHeirs(path);
    });
  /** A file may come before that of the workflow that it extends. */
  const loadAndHeirs = async (path: string): Promise<void> => {
    waiting.delete(path);
    const { loaded, wants } = await loadFile(deps, folder, path);
    if (wants !== undefined) waiting.set(path, wants);
    for (const [heir, parent] of [...waiting]) if (parent === loaded) await loadAndHeirs(heir);
  };
  watcher.on("add", load);
  watcher.on("change", load);
  watcher.on("unlink", (path) => queue(() => unload(deps, relative(folder, path))));
  watcher.on("error", (error) => deps.log.error("workflow folder cannot be watched", { error }));
  await new Promise<void>((resolve) => watcher.once("ready", () => resolve()));
  queue(() => unloadMissing(deps, seen));
  await work;
  return {
    close: async () => {
      await watcher.close();
      await work;
    },
  };
}

interface Loaded {
  readonly loaded?: string;
  /** The workflow that the one in the file extends, where that is not there. */
  readonly wants?: string;
}

async function loadFile(deps: FolderDeps, folder: string, path: string): Promise<Loaded> {
  const file = relative(folder, path);
  let yaml: string;
  try {
    yaml = await readFile(path, "utf8");
  } catch {
    return {};
  }
  const parsed = await parseStored(deps, yaml, { fallbackName: basename(path, extname(path)) });
  if (!parsed.ok) {
    deps.log.error("workflow file refused", { file, errors: parsed.errors.map(describeProblem) });
    return parsed.wants === undefined ? {} : { wants: parsed.wants };
  }
  const saved = await saveWithHeirs(deps, parsed, { yaml, source: "file", filePath: file });
  const loaded = saved.head.name;
  if (!saved.changed) return { loaded };
  deps.log.info("workflow file loaded", {
    file,
    workflow: saved.head.name,
    revision: saved.head.revision,
    warnings: [...parsed.warnings, ...lintDefinition(parsed.definition)],
  });
  return { loaded };
}

async function unload(deps: FolderDeps, file: string): Promise<void> {
  for (const head of await allWorkflows(deps)) {
    if (head.source !== "file" || head.file_path !== file) continue;
    await deleteWorkflow(deps, head.name, true);
    deps.log.info("workflow file gone", { file, workflow: head.name });
  }
}

async function unloadMissing(deps: FolderDeps, files: ReadonlySet<string>): Promise<void> {
  for (const head of await allWorkflows(deps)) {
    if (head.source === "file" && !files.has(head.file_path)) await unload(deps, head.file_path);
  }
}
