import { useSyncExternalStore } from "react";
import { ApiFailure, dataOf, type Schemas } from "../../client/api.ts";
import { api } from "../api/client.ts";
import { csrfHeaders } from "../api/csrf.ts";
import { queryClient } from "../api/query-client.ts";

const POLL_MS = 700;
const BYTES_PER_MB = 1024 * 1024;

/** Why a file was not imported: the words of the service, or a reason that this page knows. */
export type ImportProblem =
  | { readonly kind: "service"; readonly message: string }
  | { readonly kind: "lost" }
  | { readonly kind: "too_large"; readonly size: number }
  | { readonly kind: "type"; readonly extensions: string };

/** A file that is imported, or was since the page was opened. */
export interface ImportedFile {
  readonly key: number;
  readonly name: string;
  readonly status: "sending" | "running" | "done" | "failed";
  /** From 0 to 1. */
  readonly progress: number;
  readonly document?: string | undefined;
  /** What was left out. */
  readonly skipped: readonly string[];
  readonly problem?: ImportProblem | undefined;
}

type Limits = Pick<
  Schemas["DocumentConfig"],
  "CONVERSION_FILE_EXTENSIONS_ALLOWED" | "CONVERSION_FILE_MAX_SIZE"
>;

const listeners = new Set<() => void>();
let files: readonly ImportedFile[] = [];
let lastKey = 0;

function setFiles(next: readonly ImportedFile[]): void {
  files = next;
  for (const listener of listeners) listener();
}
const change = (key: number, changes: Partial<ImportedFile>): void =>
  setFiles(files.map((file) => (file.key === key ? { ...file, ...changes } : file)));

export const dismissImport = (key: number): void => setFiles(files.filter((file) => file.key !== key));

export const useImports = (): readonly ImportedFile[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => files,
  );

/** Imports files one after the other, below a document or at the top level. */
export async function importFiles(
  chosen: readonly File[],
  parent: string | undefined,
  limits: Limits,
): Promise<void> {
  const begun = chosen.map((file) => {
    lastKey += 1;
    const { name } = file;
    return { file, entry: { key: lastKey, name, status: "sending", progress: 0, skipped: [] } as const };
  });
  setFiles([...files, ...begun.map(({ entry }) => entry)]);
  for (const { file, entry } of begun) {
    const problem = problemOf(file, limits);
    if (problem !== undefined) change(entry.key, { status: "failed", problem });
    else await importFile(entry.key, file, parent);
  }
}

/** Checked here as well, so that a large file is not sent for nothing. */
function problemOf(
  { name, size }: File,
  { CONVERSION_FILE_EXTENSIONS_ALLOWED: extensions, CONVERSION_FILE_MAX_SIZE: bytes }: Limits,
): ImportProblem | undefined {
  if (!extensions.some((extension) => name.toLowerCase().endsWith(extension)))
    return { kind: "type", extensions: extensions.join(", ") };
  return size > bytes ? { kind: "too_large", size: Math.floor(bytes / BYTES_PER_MB) } : undefined;
}

type Answer = Pick<Schemas["Document"], "id"> & { readonly skipped?: readonly string[] };

async function importFile(key: number, file: File, parent: string | undefined): Promise<void> {
  try {
    const body = new FormData();
    body.append("file", file);
    const path = parent === undefined ? "/api/v1.0/documents/" : `/api/v1.0/documents/${parent}/children/`;
    const response = await fetch(path, { method: "POST", headers: csrfHeaders(), body });
    const answer: unknown = await response.json().catch(() => undefined);
    if (!response.ok) throw new ApiFailure(response.status, answer);
    if (response.status === 202) await followJob(key, (answer as Schemas["DocumentImport"]).id);
    else {
      const { id, skipped = [] } = answer as Answer;
      change(key, { status: "done", document: id, skipped });
    }
  } catch (error) {
    const problem: ImportProblem =
      error instanceof ApiFailure ? { kind: "service", message: error.message } : { kind: "lost" };
    change(key, { status: "failed", problem });
  } finally {
    void queryClient.invalidateQueries({ queryKey: ["documents"] });
  }
}

async function followJob(key: number, id: string): Promise<void> {
  for (;;) {
    const job = await dataOf(api.GET("/api/v1.0/imports/{id}", { params: { path: { id } } }));
    if (job.status === "succeeded") {
      change(key, { status: "done", document: job.document ?? undefined, skipped: job.skipped });
      return;
    }
    if (job.status === "failed") {
      change(key, { status: "failed", problem: { kind: "service", message: job.error ?? "" } });
      return;
    }
    change(key, { status: "running", progress: job.progress });
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
