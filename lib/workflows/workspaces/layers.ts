import { createHash } from "node:crypto";
import type { Ports } from "../../platform/ports.ts";

/** An entry of a workspace. Folders are listed only if they are empty. */
export type Entry =
  | { readonly sha256: string; readonly bytes: number; readonly mode: number }
  | { readonly link: string }
  | { readonly folder: true };

/** The changes of a step in its workspace, by relative path with `/` as separator; null for a deleted entry. */
export type Changes = Readonly<Record<string, Entry | null>>;

/** The change of a workspace that a step reports to the conductor: keys of blobs with changes. */
export interface WorkspaceChange {
  /** The changes of the step. */
  readonly layer?: string;
  /** A layer that merges all of the oldest layers. */
  readonly base?: { readonly layer: string; readonly replaces: readonly string[] };
}

/** Number of layers from which on they are merged into one. */
export const LAYERS_MAX = 40;

/** Prefix of a workspace's blobs; hashed, since the workspace's name may contain characters that blob keys may not. */
const folderOf = (workspace: string): string =>
  `workspaces/${createHash("sha256").update(workspace).digest("hex").slice(0, 32)}`;

export const contentKey = (workspace: string, sha256: string): string =>
  `${folderOf(workspace)}/content/${sha256}`;
export const layerKey = (workspace: string, id: string): string => `${folderOf(workspace)}/layers/${id}`;

/** Throws if the layer is missing or invalid. */
export async function readLayer(blobs: Ports["blobs"], key: string): Promise<Changes> {
  const bytes = await blobs.get(key);
  if (bytes === undefined) throw new Error(`a layer of a workspace is missing: ${key}`);
  const changes = JSON.parse(Buffer.from(bytes).toString("utf8")) as Changes;
  for (const path of Object.keys(changes)) checkPath(path);
  return changes;
}

/** Merges consecutive changes into one set of entries; deleted entries are omitted. */
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

/** Executors of user code write layers: no path may leave the workspace. */
function checkPath(path: string): void {
  const parts = path.split("/");
  if (path.includes("\0") || parts.some((part) => part === "" || part === "." || part === ".."))
    throw new Error(`not a path of a workspace: ${JSON.stringify(path).slice(0, 200)}`);
}

/** Returns the layers after a change; a base applies only if all layers that it replaces are present. */
export function withChange(layers: readonly string[], { layer, base }: WorkspaceChange): string[] {
  const complete = base?.replaces.every((key, index) => layers[index] === key) === true;
  const kept = complete ? [base.layer, ...layers.slice(base.replaces.length)] : [...layers];
  return layer === undefined || kept.includes(layer) ? kept : [...kept, layer];
}
