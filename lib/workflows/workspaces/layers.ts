import { createHash } from "node:crypto";
import type { Ports } from "../../platform/ports.ts";

/** What lies at a path of a workspace. Folders are named where they are empty. */
export type Entry =
  | { readonly sha256: string; readonly bytes: number; readonly mode: number }
  | { readonly link: string }
  | { readonly folder: true };

/** What a step changed in its workspace, by path below it, with `/` between names; null where it took away. */
export type Changes = Readonly<Record<string, Entry | null>>;

/** What a step did to its workspace, on its way to the conductor: keys of blobs that hold changes. */
export interface WorkspaceChange {
  /** What it changed. */
  readonly layer?: string;
  /** One that stands for all of the oldest layers. */
  readonly base?: { readonly layer: string; readonly replaces: readonly string[] };
}

/** Layers of a workspace from which on one is made of them all. */
export const LAYERS_MAX = 40;

/** Where the blobs of a workspace lie; its name may hold what keys of blobs may not. */
const folderOf = (workspace: string): string =>
  `workspaces/${createHash("sha256").update(workspace).digest("hex").slice(0, 32)}`;

export const contentKey = (workspace: string, sha256: string): string =>
  `${folderOf(workspace)}/content/${sha256}`;
export const layerKey = (workspace: string, id: string): string => `${folderOf(workspace)}/layers/${id}`;

/** Throws where the layer is gone or is none. */
export async function readLayer(blobs: Ports["blobs"], key: string): Promise<Changes> {
  const bytes = await blobs.get(key);
  if (bytes === undefined) throw new Error(`a layer of a workspace is gone: ${key}`);
  const changes = JSON.parse(Buffer.from(bytes).toString("utf8")) as Changes;
  for (const path of Object.keys(changes)) checkPath(path);
  return changes;
}

/** Changes one after another as one; what was taken away is left out of the whole. */
export function foldLayers(layers: Iterable<Changes>): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const changes of layers) {
    for (const [path, entry] of Object.entries(changes)) {
      if (entry === null) entries.delete(path);
      else entries.set(path, entry);
    }
  }
  return entries;
}

export function sameEntry(one: Entry | undefined, other: Entry | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  if ("link" in one) return "link" in other && one.link === other.link;
  if ("folder" in one) return "folder" in other;
  return "sha256" in other && one.sha256 === other.sha256 && one.mode === other.mode;
}

/** A layer is written by executors of users' code: nothing of it may lead out of the workspace. */
function checkPath(path: string): void {
  const parts = path.split("/");
  if (path.includes("\0") || parts.some((part) => part === "" || part === "." || part === ".."))
    throw new Error(`not a path of a workspace: ${JSON.stringify(path).slice(0, 200)}`);
}

/** The layers of a workspace once a change has come to it; a base counts where all that it stands for is there. */
export function withChange(layers: readonly string[], { layer, base }: WorkspaceChange): string[] {
  const complete = base?.replaces.every((key, index) => layers[index] === key) === true;
  const kept = complete ? [base.layer, ...layers.slice(base.replaces.length)] : [...layers];
  return layer === undefined || kept.includes(layer) ? kept : [...kept, layer];
}
