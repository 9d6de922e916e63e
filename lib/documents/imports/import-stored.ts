import { createWriteStream } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ArchiveError, openZip, type ZipLimits, type ZipMember } from "../../archives/read-zip.ts";
import { ApiError } from "../../errors.ts";
import { TITLE_MAX_LENGTH } from "../records/body.ts";
import { importBlob, type StoredImport } from "../tables/imports.ts";
import type { StoredUser } from "../tables/users.ts";
import { versionBlob } from "../tables/versions.ts";
import { convertFile } from "./convert-file.ts";
import { importedId } from "./discard.ts";
import { extensionOf, fileError, formatByExtension } from "./file-format.ts";
import type { ImportDeps } from "./import-file.ts";
import { planChange, renew, SupersededError, toSkipped } from "./import-state.ts";
import { type ArchivePlan, findReferenced, planArchive } from "./plan-archive.ts";
import { attachImport, type Page, type PageContent, type Target, toHead, writePages } from "./write-pages.ts";

export type ArchiveDeps = ImportDeps;

const MIB = 1024 * 1024;
const LIMITS: ZipLimits = { entriesMax: 20_000, entryMaxBytes: 100 * MIB, totalMaxBytes: 1024 * MIB };
const PAGE_MAX_BYTES = 20 * MIB;
/** Embedded images of all pages, which are in memory until the documents exist. */
const EMBEDDED_MAX_BYTES = 64 * MIB;
const PAGES_AT_ONCE = 8;
const RENEWED_EVERY_MS = 1_000;
/** The part of the progress that the conversion of the pages is. */
const CONVERTED = 0.7;

/** The temporary folder of an attempt: a killed process leaves it. */
const folderOf = ({ id, attempt }: StoredImport): string => join(tmpdir(), `weft-import-${id}-${attempt}`);

/** Removes what an attempt has left on this machine. */
export const removeTemporary = (stored: StoredImport): Promise<void> =>
  rm(folderOf(stored), { recursive: true, force: true });

/**
 * Imports the file of a job; returns the job, which is attached and has nothing left on this machine. Throws
 * SupersededError, and as `writePages` and `attachImport`.
 */
export async function importStored(
  deps: ArchiveDeps,
  user: StoredUser,
  stored: StoredImport,
): Promise<StoredImport> {
  const folder = folderOf(stored);
  await mkdir(folder, { mode: 0o700 });
  try {
    const path = join(folder, "file");
    const chunks = await deps.blobs.stream(importBlob(stored.id));
    if (chunks === undefined) throw fileError("The file of the import is missing.");
    await pipeline(Readable.from(chunks), createWriteStream(path));
    // Whether it is allowed was checked when it was received; consumers do not have all settings of endpoints.
    const format = formatByExtension(stored.name);
    if (format === undefined) throw new TypeError("the file of an import has a known extension");
    if (format === "zip") return await importArchive(deps, user, stored, path);
    const { title, files, urls, state, skipped } = await convertFile(deps, format, await readFile(path));
    const pages = [
      {
        parent: null,
        title: title ?? stored.name.slice(0, TITLE_MAX_LENGTH),
        content: { state, files, urls },
      },
    ];
    return await writeAttached(
      deps,
      user,
      await withCount(deps, stored, 1),
      pages,
      () => undefined,
      () => [...skipped],
    );
  } finally {
    await removeTemporary(stored);
  }
}

async function importArchive(
  deps: ArchiveDeps,
  user: StoredUser,
  before: StoredImport,
  path: string,
): Promise<StoredImport> {
  const zip = await openZip({ path }, LIMITS).catch((error: unknown) => {
    throw error instanceof ArchiveError ? fileError(error.message) : error;
  });
  try {
    const plan = planArchive(zip.members, before.name);
    const stored = await withCount(deps, before, plan.pages.length);
    const skipped = [...plan.skipped, ...zip.refused.map((name) => `${name}: not a file within the archive`)];
    const pages = await convertPages(deps, stored, plan, skipped);
    const used = new Set<string>();
    const { maxBytes } = deps.documents.attachments;
    const resolve = (at: number, url: string): Target | undefined => {
      const from = plan.pages[at]?.folder ?? [];
      const found = findReferenced(from, url, (one) => plan.byPath.has(one) || plan.files.has(one));
      const page = found === undefined ? undefined : plan.byPath.get(found);
      if (page !== undefined) return { page };
      const member = found === undefined ? undefined : plan.files.get(found);
      if (found === undefined || member === undefined) return undefined;
      if (!used.has(found) && member.bytes > maxBytes)
        skipped.push(`${found}: larger than an attachment may be`);
      used.add(found);
      if (member.bytes > maxBytes || member.bytes === 0) return undefined;
      return { file: found, name: member.path.at(-1) ?? "file", read: () => readMember(member) };
    };
    const left = (): string[] => [
      ...skipped,
      ...[...plan.files.keys()]
        .filter((one) => !used.has(one))
        .map((one) => `${one}: no document refers to it`),
    ];
    return await writeAttached(deps, user, stored, pages, resolve, left);
  } finally {
    zip.close();
  }
}

/** Records how many documents there are, so that they can be found again after a crash. */
async function withCount(deps: ArchiveDeps, stored: StoredImport, documents: number): Promise<StoredImport> {
  const outcome = await deps.tables.write([planChange(stored, { set: { documents } })]);
  if (!outcome.ok) throw new SupersededError();
  return { ...stored, documents };
}

async function writeAttached(
  deps: ArchiveDeps,
  user: StoredUser,
  stored: StoredImport,
  pages: readonly Page[],
  resolve: (page: number, url: string) => Target | undefined,
  skipped: () => string[],
): Promise<StoredImport> {
  const report = reporter(deps, stored);
  const progress = (done: number, total: number): Promise<void> =>
    report(CONVERTED + ((1 - CONVERTED) * done) / total);
  const root = await writePages(deps, stored, pages, { resolve, progress });
  return attachImport(deps, user, stored, root, toSkipped(skipped()));
}

/** Renews the import at most once a second. */
function reporter(deps: ArchiveDeps, stored: StoredImport): (progress: number) => Promise<void> {
  let last = deps.clock.now();
  return async (progress) => {
    const now = deps.clock.now();
    if (now < last + RENEWED_EVERY_MS) return;
    last = now;
    await renew(deps, stored, Math.round(progress * 100) / 100);
  };
}

/** Converts and stores the pages of an archive. One that cannot be converted stays without content. */
async function convertPages(
  deps: ArchiveDeps,
  stored: StoredImport,
  { pages }: ArchivePlan<ZipMember>,
  skipped: string[],
): Promise<Page[]> {
  const report = reporter(deps, stored);
  const converted: Page[] = [];
  let embedded = 0;
  const convert = async (planned: (typeof pages)[number], at: number): Promise<Page> => {
    const { parent, title, file } = planned;
    if (file === undefined) return { parent, title };
    const name = file.path.join("/");
    try {
      if (file.bytes > PAGE_MAX_BYTES) throw fileError("The page is too large.");
      const format = extensionOf(name).startsWith(".h") ? "html" : "markdown";
      const page = await convertFile(deps, format, await file.read(), title);
      const bytes = page.files.reduce((sum, one) => sum + one.bytes.length, 0);
      embedded += bytes;
      const keepsFiles = embedded <= EMBEDDED_MAX_BYTES;
      const left = [...page.skipped, ...(keepsFiles ? [] : ["Its embedded images"])];
      skipped.push(...left.map((one) => `${name}: ${one}`));
      const head = toHead(deps, deps.ids.ordered(), page.state);
      await deps.blobs.put(versionBlob(importedId(stored, at), head.version), page.state);
      const content: PageContent = {
        state: { stored: head },
        files: keepsFiles ? page.files.map((one) => ({ ...one, bytes: Buffer.from(one.bytes) })) : [],
        urls: page.urls,
      };
      return { parent, title: page.title ?? title, position: page.position, content };
    } catch (error) {
      if (error instanceof ArchiveError) throw fileError(error.message);
      if (!(error instanceof ApiError) || error.code !== "bad_request") throw error;
      skipped.push(`${name}: ${error.message}`);
      return { parent, title };
    }
  };
  for (let at = 0; at < pages.length; at += PAGES_AT_ONCE) {
    const some = pages.slice(at, at + PAGES_AT_ONCE);
    converted.push(...(await Promise.all(some.map((page, offset) => convert(page, at + offset)))));
    await report((CONVERTED * converted.length) / pages.length);
  }
  return converted;
}

async function readMember(member: ZipMember): Promise<Uint8Array> {
  try {
    return await member.read();
  } catch (error) {
    throw error instanceof ArchiveError ? fileError(error.message) : error;
  }
}
