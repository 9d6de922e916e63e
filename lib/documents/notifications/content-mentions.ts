import type { XmlFragment } from "yjs";
import type { DocumentNode } from "../tree/ancestors.ts";
import { contentWithLog, type LogDeps, readDocumentWithLog } from "../updates/read-log.ts";

/** A user whom a block of a document mentions. */
export interface ContentMention {
  /** Id, in lower case. */
  readonly user: string;
  /** Id of the block. */
  readonly block: string;
}

/** The Yjs fragment that editors write to. */
const FRAGMENT = "document-store";
/** The name of its node is in the bytes of every state that contains a mention. */
const MENTION = "mention";
const MENTIONS_MAX = 500;
/** Deeper nodes are not an editor's. */
const DEPTH_MAX = 400;
const BLOCK_ID_MAX_LENGTH = 100;
const USER_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The mentions in the current content of a document: inline content `{"type": "mention", "props": {"user": <id>}}`, each
 * user once per block. Only a content with a mention is decoded.
 */
export async function readContentMentions(
  deps: LogDeps,
  { document }: DocumentNode,
): Promise<readonly ContentMention[]> {
  const content = await contentWithLog(deps, await readDocumentWithLog(deps, document.id));
  if (content?.kind !== "yjs") return [];
  const { buffer, byteOffset, byteLength } = content.bytes;
  if (!Buffer.from(buffer, byteOffset, byteLength).includes(MENTION)) return [];
  const Y = await import("yjs");
  const doc = new Y.Doc();
  Y.applyUpdate(doc, content.bytes);
  const mentions = new Map<string, ContentMention>();
  const visit = (parent: XmlFragment, block: string, depth: number): void => {
    if (depth > DEPTH_MAX) return;
    for (const node of parent.toArray()) {
      if (!(node instanceof Y.XmlElement) || mentions.size >= MENTIONS_MAX) continue;
      const { id, user } = node.getAttributes() as Readonly<Record<string, unknown>>;
      if (node.nodeName === MENTION && typeof user === "string" && USER_ID.test(user)) {
        const mention = { user: user.toLowerCase(), block };
        mentions.set(JSON.stringify(mention), mention);
      }
      const isBlock = node.nodeName === "blockContainer" && typeof id === "string";
      visit(node, isBlock ? id.slice(0, BLOCK_ID_MAX_LENGTH) : block, depth + 1);
    }
  };
  visit(doc.getXmlFragment(FRAGMENT), "", 0);
  return [...mentions.values()];
}
