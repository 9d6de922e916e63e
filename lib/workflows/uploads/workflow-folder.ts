import { readFile, stat } from "node:fs/promises";
import { basename, extname, join, relative } from "node:path";
import type { FSWatcher } from "chokidar";
import type { Log } from "../../platform/log.ts";
import { describeProblem } from "../schema/problems.ts";
import { findByName } from "../store/find-workflow.ts";
import { allWorkflows, type DefinitionDeps, deleteWorkflow, findNamed } from "../store/store.ts";
import type { WorkflowHead } from "../store/table.ts";
import { unwatchableTriggers, type WatchingDeps } from "../watches/unwatchable-paths.ts";
import { lintDefinition } from "./lint.ts";
import { type ParsedWorkflow, parseStored, saveWithDescendants } from "./save-text.ts";

const EXTENSIONS: ReadonlySet<string> = new Set([".yaml", ".yml"]);
/** A file is read after it has not changed for this long, milliseconds. */
const SETTLED_MS = 100;

export type FolderDeps = DefinitionDeps & WatchingDeps & { readonly log: Log };

export interface WorkflowFolder {
  close(): Promise<void>;
}

/**
 * Keeps the stored workflows in sync with a folder of YAML files: reads all of them, then watches the folder. An
 * invalid file is reported and its stored workflow is kept. Deleting a file deletes its workflow.
 */
export async function openWorkflowFolder(deps: FolderDeps, folder: string): Promise<WorkflowFolder> {
  const { watch } = await import("chokidar");
  const watcher: FSWatcher = watch(folder, {
    ignored: (path, stats) =>
      (stats?.isFile() === true && !EXTENSIONS.has(extname(path))) || basename(path).startsWith("."),
    awaitWriteFinish: { stabilityThreshold: SETTLED_MS, pollInterval: 25 },
  });
  const seen = new Set<string>();
  /** Files whose workflow extends a missing one, and its name. */
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
  /** A file may be read before that of the workflow it extends. */
  const loadAndHeirs = async (path: string): Promise<void> => {
    waiting.delete(path);
    const { loaded, wants } = await loadFile(deps, folder, path);
    if (wants !== undefined) waiting.set(path, wants);
    if (loaded === undefined) return;
    for (const [heir, parent] of [...waiting])
      if (findByName([loaded], parent) !== undefined) await loadAndHeirs(heir);
  };
  watcher.on("add", load);
  watcher.on("change", load);
  watcher.on("unlink", (path) => queue(() => unload(deps, relative(folder, path))));
  watcher.on("error", (error) => deps.log.error("watching the workflow folder failed", { error }));
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
  readonly loaded?: WorkflowHead;
  /** Name of the extended workflow, if it is missing. */
  readonly wants?: string;
}

async function loadFile(
  deps: FolderDeps,
  folder: string,
  path: string,
  forcedName?: string,
): Promise<Loaded> {
  const file = relative(folder, path);
  const refuse = (errors: readonly string[]): void =>
    deps.log.error("rejected a workflow file", { file, errors });
  let yaml: string;
  try {
    // Reading a pipe would block all other files.
    if (!(await stat(path)).isFile()) {
      refuse(["not a regular file"]);
      return {};
    }
    yaml = await readFile(path, "utf8");
  } catch {
    return {};
  }
  const parse = (name = forcedName): Promise<ParsedWorkflow> =>
    parseStored(deps, yaml, { fallbackName: fileName(file), ...(name !== undefined && { name }) });
  let parsed = await parse();
  const given = parsed.definition?.name;
  const holder = given === undefined ? undefined : await fileThatHolds(deps, folder, given, file);
  const shared: string[] = [];
  if (given !== undefined && holder !== undefined) {
    // The file that is named like the workflow keeps the name; the other workflow gets the name of its file.
    const isOwner = fileName(file) === given;
    const [other, name] = isOwner ? [holder, fileName(holder)] : [file, fileName(file)];
    const taken = await findNamed(deps, name);
    if (name !== given) {
      if (taken !== undefined && taken.file_path !== other) {
        refuse([`name: the name "${given}" is that of ${holder}, and "${name}" is taken: choose another`]);
        return {};
      }
      if (isOwner) await loadFile(deps, folder, join(folder, holder), name);
      else shared.push(`name: "${given}" is that of ${holder}: this workflow is called "${name}"`);
      parsed = await parse(isOwner ? given : name);
    }
  }
  if (!parsed.ok) {
    refuse(parsed.errors.map(describeProblem));
    return parsed.wants === undefined ? {} : { wants: parsed.wants };
  }
  const saved = await saveWithDescendants(deps, parsed, { yaml, source: "file", filePath: file });
  const loaded = saved.head;
  if (!saved.changed) return { loaded };
  // If the workflow in a file was renamed, the old workflow is deleted.
  if (forcedName === undefined) await unload(deps, file, loaded.name);
  deps.log.info("loaded a workflow file", {
    file,
    workflow: saved.head.name,
    revision: saved.head.revision,
    warnings: [
      ...shared,
      ...parsed.warnings,
      ...lintDefinition(parsed.definition),
      ...(await unwatchableTriggers(deps, parsed.definition.triggers)),
    ],
  });
  return { loaded };
}

const fileName = (file: string): string => basename(file, extname(file));

/** Another existing file that contains the workflow of this name. */
async function fileThatHolds(
  deps: FolderDeps,
  folder: string,
  name: string,
  file: string,
): Promise<string | undefined> {
  const head = await findNamed(deps, name);
  if (head === undefined || head.source !== "file" || head.file_path === file) return undefined;
  const stats = await stat(join(folder, head.file_path)).catch(() => undefined);
  return stats?.isFile() === true ? head.file_path : undefined;
}

/** Deletes the workflows of a file, except the one named `kept`. */
async function unload(deps: FolderDeps, file: string, kept?: string): Promise<void> {
  for (const head of await allWorkflows(deps)) {
    if (head.source !== "file" || head.file_path !== file || head.name === kept) continue;
    await deleteWorkflow(deps, head.name, true);
    deps.log.info("a workflow file was removed", { file, workflow: head.name });
  }
}

async function unloadMissing(deps: FolderDeps, files: ReadonlySet<string>): Promise<void> {
  for (const head of await allWorkflows(deps)) {
    if (head.source === "file" && !files.has(head.file_path)) await unload(deps, head.file_path);
  }
}
