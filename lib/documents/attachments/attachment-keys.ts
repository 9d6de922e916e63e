/** An attachment's key, and the document that it was uploaded to. */
export interface AttachmentKey {
  /** `<document>/attachments/<id>[-unsafe].<extension>` */
  readonly key: string;
  readonly document: string;
}

/** Characters. */
const URL_MAX_LENGTH = 2000;
const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const FILE = `${UUID}(?:-unsafe)?\\.[A-Za-z0-9]{1,10}`;
const KEY = new RegExp(`^${UUID}/attachments/${FILE}$`);
/** As sent, not normalized: what is authorized must be what the gateway then serves. */
const MEDIA_URL = new RegExp(
  `^(?:https?://[^/?#\\s]+)?/media/((${UUID})/attachments/${FILE})(?:\\?[^#\\s]*)?$`,
);

/** Parses the URL or path of a request for an attachment; undefined if it is not one. Reference 1.7. */
export function parseMediaUrl(url: string): AttachmentKey | undefined {
  if (url.length > URL_MAX_LENGTH) return undefined;
  const [, key, document] = MEDIA_URL.exec(url) ?? [];
  return key === undefined || document === undefined ? undefined : { key, document };
}

export const isAttachmentKey = (text: string): boolean => KEY.test(text);

/** Composes the key of an uploaded file. `extension` has 1 to 10 letters and digits. */
export const composeAttachmentKey = (
  document: string,
  id: string,
  { isUnsafe, extension }: { readonly isUnsafe: boolean; readonly extension: string },
): string => `${document}/attachments/${id}${isUnsafe ? "-unsafe" : ""}.${extension}`;

const NEEDLE = Buffer.from("attachments");
const SEPARATOR = "(?:\\\\?/|%2F)";
/** A key in any spelling: in JSON, percent-encoded, with an id in capitals. */
const REFERENCE = new RegExp(`(${UUID})${SEPARATOR}attachments${SEPARATOR}(${FILE})`, "i");
/** The longest text before and after the needle: a document's id, or the name of a file, and a separator. */
const AROUND = 64;
/** Keys that are found in one content. */
const FOUND_MAX = 5_000;

/**
 * Finds the keys of attachments in content: text, or a Yjs state or update, whose strings are UTF-8. A URL is one value
 * of a block, so it is never split.
 */
export function findAttachmentKeys(content: Uint8Array): string[] {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const found = new Set<string>();
  for (let at = bytes.indexOf(NEEDLE); at >= 0; at = bytes.indexOf(NEEDLE, at + NEEDLE.length)) {
    const around = bytes.toString("latin1", Math.max(0, at - AROUND), at + NEEDLE.length + AROUND);
    const [, document, file] = REFERENCE.exec(around) ?? [];
    if (document === undefined || file === undefined) continue;
    const dot = file.lastIndexOf(".");
    found.add(`${document.toLowerCase()}/attachments/${file.slice(0, dot).toLowerCase()}${file.slice(dot)}`);
    if (found.size === FOUND_MAX) break;
  }
  return [...found];
}
