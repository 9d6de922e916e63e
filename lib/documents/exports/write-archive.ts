import { type PassThrough, Readable } from "node:stream";
import { ATTACHMENTS_FOLDER, fileNameOf, relativeLink } from "../../conversion/exported-tree.ts";
import { ApiError, ERROR_STATUS } from "../../errors.ts";
import type { LinkedDocument } from "../../platform/renderer.ts";
import { authorize } from "../authorization/document-access.ts";
import { readCurrentContent } from "../content/read.ts";
import { attachmentBlob, type StoredAttachment } from "../tables/attachments.ts";
import type { StoredUser } from "../tables/users.ts";
import { convertContent, type ExportDeps, renderWith } from "./export-document.ts";
import type { ExportedPage } from "./exported-pages.ts";
import { UNTITLED } from "./linked-documents.ts";
import { readableAttachments } from "./readable-images.ts";

/** Attachments of one archive, bytes. */
const ATTACHMENTS_MAX_BYTES = 4 * 1024 ** 3;
const BLOCKS_NONE = "[]";
/** Documents that are converted at the same time: on AWS, most of the time is that of requests. */
const BATCH_SIZE = 4;

export interface ArchivePlan {
  readonly pages: readonly ExportedPage[];
  /** Further files at the root, by name. */
  readonly others: ReadonlyMap<string, string>;
  readonly baseUrl: string;
  readonly signal: AbortSignal;
  /** After each document. */
  onPage(done: number): Promise<void>;
}

/**
 * Writes documents as a zip, a few at a time, so that the memory does not grow with their number. The stream ends
 * with the error that stopped it. Layout: lib/conversion/exported-tree.ts.
 */
export async function* writeArchive(
  deps: ExportDeps,
  user: StoredUser,
  plan: ArchivePlan,
): AsyncGenerator<Uint8Array> {
  const { ZipFile } = await import("yazl");
  const zip = new ZipFile();
  const output = zip.outputStream as PassThrough;
  const mtime = new Date(deps.clock.now());
  /** Resolves when the content has been packed. */
  const add: AddFile = (path, content, compress = true) =>
    new Promise((resolve, reject) => {
      const source = Readable.from(content, { objectMode: false });
      source.once("end", resolve).once("error", reject);
      zip.addReadStream(source, path, { mtime, mode: 0o644, compress });
    });
  const archive = new Archive(deps, user, plan, add);
  zip.on("error", (error) => output.destroy(error as Error));
  archive.fill().then(
    () => zip.end(),
    (error: unknown) => output.destroy(error as Error),
  );
  for await (const chunk of output) yield chunk as Uint8Array;
}

type AddFile = (
  path: string,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  compress?: boolean,
) => Promise<void>;

interface ReadPage {
  readonly page: ExportedPage;
  /** As JSON. */
  readonly blocks: string;
  readonly attachments: readonly StoredAttachment[];
}

class Archive {
  readonly #deps: ExportDeps;
  readonly #user: StoredUser;
  readonly #plan: ArchivePlan;
  readonly #add: AddFile;
  readonly #pages: ReadonlyMap<string, ExportedPage>;
  readonly #names = new Set<string>();
  /** File names of attachments by key. */
  readonly #files = new Map<string, string>();
  #bytes = 0;

  constructor(deps: ExportDeps, user: StoredUser, plan: ArchivePlan, add: AddFile) {
    this.#deps = deps;
    this.#user = user;
    this.#plan = plan;
    this.#add = add;
    this.#pages = new Map(plan.pages.map((page) => [page.id, page]));
  }

  async fill(): Promise<void> {
    const { pages, others, signal, onPage } = this.#plan;
    for (const [name, text] of others) await this.#add(name, [Buffer.from(text)]);
    for (let at = 0; at < pages.length; at += BATCH_SIZE) {
      signal.throwIfAborted();
      const batch = pages.slice(at, at + BATCH_SIZE);
      await this.#addPages(batch);
      await onPage(at + batch.length);
    }
  }

  async #addPages(batch: readonly ExportedPage[]): Promise<void> {
    const read = await Promise.all(batch.map((page) => this.#read(page)));
    const named = read
      .flatMap((page) => page ?? [])
      .map((page) => ({ ...page, fresh: this.#nameFiles(page) }));
    const written = await Promise.all(
      named.map(async (page) => ({ ...page, bytes: await this.#render(page) })),
    );
    for (const { page, bytes, fresh } of written) {
      const { path, title, position } = page;
      const matter = `---\ntitle: ${JSON.stringify(title ?? "")}\nposition: ${position}\n---\n`;
      await this.#add(path.join("/"), [Buffer.from(matter), bytes]);
      for (const { pk } of fresh) {
        const content = await this.#deps.blobs.stream(attachmentBlob(pk));
        const name = this.#files.get(pk.toLowerCase());
        if (content !== undefined) await this.#add(`${ATTACHMENTS_FOLDER}/${name}`, content, false);
      }
    }
  }

  /** Undefined if the document was deleted or is not shared any more. */
  async #read(page: ExportedPage): Promise<ReadPage | undefined> {
    const blocks = await this.#blocksOf(page);
    if (blocks === undefined) return undefined;
    const attachments = await readableAttachments(this.#deps, this.#user, blocks, () => true);
    return { page, blocks, attachments };
  }

  /** Names the attachments that are not in the archive yet. */
  #nameFiles({ attachments }: ReadPage): StoredAttachment[] {
    const fresh = attachments.filter(({ pk }) => !this.#files.has(pk.toLowerCase()));
    for (const attachment of fresh) this.#nameFile(attachment);
    return fresh;
  }

  async #render({ page, blocks, attachments }: ReadPage): Promise<Uint8Array> {
    const { path, title } = page;
    const { bytes } = await renderWith(this.#deps, {
      to: "portable",
      title: title ?? "",
      language: "en",
      blocks,
      images: new Map(),
      files: new Map(
        attachments.map(({ pk }) => {
          const key = pk.toLowerCase();
          return [key, relativeLink(path, [ATTACHMENTS_FOLDER, this.#files.get(key) ?? ""])];
        }),
      ),
      documents: this.#linksFrom(page, blocks),
      baseUrl: this.#plan.baseUrl,
      comments: [],
    });
    return bytes;
  }

  /** The blocks as JSON; undefined if the user may not read the document any more. */
  async #blocksOf({ id }: ExportedPage): Promise<string | undefined> {
    try {
      const { document } = await authorize(this.#deps, this.#user, id, "content_retrieve");
      const current = await readCurrentContent(this.#deps, document);
      if (current === undefined) return BLOCKS_NONE;
      return String(
        await convertContent(this.#deps, { from: current.kind, bytes: current.bytes, to: "json" }),
      );
    } catch (error) {
      const isGone = error instanceof ApiError && [403, 404].includes(ERROR_STATUS[error.code]);
      if (isGone) return undefined;
      throw error;
    }
  }

  #nameFile({ pk: key, name, bytes }: StoredAttachment): void {
    this.#bytes += bytes;
    if (this.#bytes > ATTACHMENTS_MAX_BYTES)
      throw new ApiError("bad_request", "The attachments of an export have at most 4 GiB.");
    const dot = name.lastIndexOf(".");
    const extension = dot > 0 ? name.slice(dot).replace(/[^.\w-]/g, "") : "";
    const base = fileNameOf(dot > 0 ? name.slice(0, dot) : name, extension, this.#names);
    this.#files.set(key.toLowerCase(), `${base}${extension}`);
  }

  /** Documents of the archive that the blocks link to. */
  #linksFrom(page: ExportedPage, blocks: string): Map<string, LinkedDocument> {
    const ids = [...blocks.matchAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi)].map(([id]) =>
      id.toLowerCase(),
    );
    const linked = [...new Set(ids)].flatMap((id) => this.#pages.get(id) ?? []);
    return new Map(
      linked.map(({ id, title, path }) => [
        id,
        { title: title || UNTITLED, url: relativeLink(page.path, path) },
      ]),
    );
  }
}
