import type { Converter } from "../../platform/converter.ts";
import type { Ports } from "../../platform/ports.ts";
import { contentWithLog, type DocumentWithLog, type LogDeps, readSeed } from "../updates/read-log.ts";
import type { UpdateLogs } from "../updates/update-log.ts";
import { EMPTY_UPDATE_BYTES } from "../updates/yjs-update.ts";
import type { Content } from "./body.ts";
import { compareStates } from "./lineage.ts";
import { isRepeatedSave } from "./recent-saves.ts";

export type PlanDeps = LogDeps &
  Pick<Ports, "clock"> & {
    readonly updateLogs: UpdateLogs;
    readonly converter?: Converter | undefined;
  };

/** How content is saved. */
export type SavePlan =
  /** The document already has it. */
  | { readonly kind: "nothing" }
  /** It replaces the content as a whole: a new generation begins. */
  | { readonly kind: "replacement" }
  /** It becomes an update of the current content, so that connected editors merge it. */
  | {
      readonly kind: "edit";
      readonly update: Uint8Array;
      /** The content afterwards. */
      readonly state: () => Promise<Uint8Array>;
      /** Whether the content afterwards is not the sent one. */
      readonly isMerged: boolean;
      /** Whether it deletes content. */
      readonly deletes: boolean;
    };

export interface SentContent extends Content {
  /** MD5 of its bytes, hexadecimal. */
  readonly etag: string;
  /** Id of the user; null if anonymous. */
  readonly sender: string | null;
  /** Whether the sender is connected, so that its edits arrive as updates, too. */
  readonly isConnected?: boolean;
  /** Whether it is a version to restore, whatever the current content contains of it. */
  readonly isRestored?: boolean;
}

/**
 * Plans how a sent content is saved. An editor's state that continues the current one, or has diverged from it, is
 * merged. One that adds nothing sets the content back: restoring a version is saving its state again, in the reference's
 * editor. But a connected editor that lags behind by an update sends such a state, too, and so does a client that repeats
 * a request: both mean no change. An unrelated
 * state becomes an edit while others are editing, else it replaces the content, as text always does.
 */
export class SavePlanner {
  readonly #deps: PlanDeps;
  readonly #sent: SentContent;
  /** The conversion of the sent content to an edit. It can be merged with all later updates of its generation. */
  #edit: { readonly generation: number; readonly update: Uint8Array | undefined } | undefined;

  constructor(deps: PlanDeps, sent: SentContent) {
    this.#deps = deps;
    this.#sent = sent;
  }

  /** Throws `throttled` if too many conversions wait. */
  async plan(read: DocumentWithLog): Promise<SavePlan> {
    const { document, entries } = read;
    const { bytes, kind, isConnected, isRestored } = this.#sent;
    if (document.content?.kind === "plain") return { kind: "replacement" };
    const isFollowed = await this.#deps.updateLogs.isFollowed(document.id);
    // A version of text that is restored while others are editing does not take the document away from them.
    if (kind === "plain" && !(isRestored === true && isFollowed)) return { kind: "replacement" };
    const saved = await contentWithLog(this.#deps, read);
    const current = saved?.bytes ?? (await readSeed());
    if (Buffer.compare(current, bytes) === 0 && saved !== undefined) return { kind: "nothing" };
    if (isRestored === true) return this.#asEdit(read, current);
    const lineage = compareStates(current, bytes);
    const continues = lineage === "same" || lineage === "ahead";
    if (saved === undefined && !isFollowed && !continues) return { kind: "replacement" };
    switch (lineage) {
      case "same":
        // With the same clocks, but maybe not the same content: some programs give their edits fixed client ids.
        if (saved === undefined) return this.#merged(current, true);
        return isConnected === true ? { kind: "nothing" } : this.#asEdit(read, current);
      case "ahead":
        return this.#merged(current, true);
      case "diverged":
        return this.#merged(current, false);
      case "behind":
        if (saved === undefined || isConnected === true || this.#isRepeated(read)) return { kind: "nothing" };
        return this.#asEdit(read, current);
      case "unrelated":
        return isFollowed || entries.length > 0 ? this.#asEdit(read, current) : { kind: "replacement" };
    }
  }

  #isRepeated(read: DocumentWithLog): boolean {
    const { etag, sender } = this.#sent;
    return isRepeatedSave(read, etag, sender, this.#deps.clock.now());
  }

  /** Merges the sent state into the current one. */
  async #merged(current: Uint8Array, isComplete: boolean): Promise<SavePlan> {
    const { diffUpdate, encodeStateVectorFromUpdate } = await import("yjs");
    const { bytes } = this.#sent;
    const update = diffUpdate(bytes, encodeStateVectorFromUpdate(current));
    const state = async (): Promise<Uint8Array> => (isComplete ? bytes : applied(current, update));
    return { kind: "edit", update, state, isMerged: !isComplete, deletes: false };
  }

  /** Changes the current content into the sent one; replaces it if it cannot be converted. */
  async #asEdit({ document }: DocumentWithLog, current: Uint8Array): Promise<SavePlan> {
    const { generation = 0 } = document;
    if (this.#edit?.generation !== generation)
      this.#edit = { generation, update: await this.#convert(current) };
    const { update } = this.#edit;
    if (update === undefined) return { kind: "replacement" };
    if (update.length <= EMPTY_UPDATE_BYTES) return { kind: "nothing" };
    const state = (): Promise<Uint8Array> => applied(current, update);
    return { kind: "edit", update, state, isMerged: true, deletes: true };
  }

  async #convert(base: Uint8Array): Promise<Uint8Array | undefined> {
    const { bytes, kind } = this.#sent;
    const converted = await this.#deps.converter
      ?.convert({ from: kind === "plain" ? "markdown" : "yjs", bytes, to: "update", base })
      .catch((error: unknown) => {
        if ((error as { code?: unknown } | null)?.code === "unavailable") return undefined;
        throw error;
      });
    return converted?.ok && typeof converted.value !== "string" ? converted.value : undefined;
  }
}

async function applied(state: Uint8Array, update: Uint8Array): Promise<Uint8Array> {
  const { applyUpdates } = await import("../updates/apply-log.ts");
  return applyUpdates(state, [update]);
}
