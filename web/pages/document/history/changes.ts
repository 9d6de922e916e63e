import { type Change, diffArrays, diffWordsWithSpace } from "diff";

/** Edits after which a comparison ends; all of the text is then shown as replaced. */
const BLOCK_EDITS_MAX = 4_000;
const WORD_EDITS_MAX = 1_000;
/** Share of the text that two blocks have in common if one is a changed form of the other. */
const COMMON_MIN = 0.4;
/** Unchanged blocks that are shown around changes. */
const CONTEXT = 2;

export interface Part {
  readonly text: string;
  readonly kind: "same" | "added" | "removed";
}

/** A block as it is shown: its parts, or a number of unchanged blocks that are left out. */
export type ShownBlock =
  | { readonly kind: "same" | "added" | "removed" | "changed"; readonly parts: readonly Part[] }
  | { readonly kind: "skipped"; readonly count: number };

/** What has changed from the blocks of one text to those of another, with some unchanged ones around. */
export function changesBetween(before: readonly string[], after: readonly string[]): readonly ShownBlock[] {
  return withContext(compareBlocks(before, after));
}

type Block = Exclude<ShownBlock, { readonly kind: "skipped" }>;

const whole =
  (kind: Part["kind"]) =>
  (text: string): Block => ({ kind, parts: [{ text, kind }] });

function compareBlocks(before: readonly string[], after: readonly string[]): readonly Block[] {
  const chunks = diffArrays([...before], [...after], { maxEditLength: BLOCK_EDITS_MAX });
  if (chunks === undefined) return [...before.map(whole("removed")), ...after.map(whole("added"))];
  const blocks: Block[] = [];
  for (let at = 0; at < chunks.length; at += 1) {
    const { value = [], added = false, removed = false } = chunks[at] ?? {};
    const next = chunks[at + 1];
    if (removed && next?.added === true) {
      blocks.push(...compareReplaced(value, next.value));
      at += 1;
    } else blocks.push(...value.map(whole(added ? "added" : removed ? "removed" : "same")));
  }
  return blocks;
}

/** Blocks in place of others: those at the same place are compared by words. */
function compareReplaced(before: readonly string[], after: readonly string[]): readonly Block[] {
  const shown: Block[] = [];
  for (let at = 0; at < Math.max(before.length, after.length); at += 1) {
    const [old, now] = [before[at], after[at]];
    const parts = old === undefined || now === undefined ? undefined : compareWords(old, now);
    if (parts !== undefined) shown.push({ kind: "changed", parts });
    else {
      if (old !== undefined) shown.push(whole("removed")(old));
      if (now !== undefined) shown.push(whole("added")(now));
    }
  }
  return shown;
}

/** The parts of a changed text; undefined if it has too little in common with the earlier one. */
function compareWords(before: string, after: string): readonly Part[] | undefined {
  const changes: readonly Change[] | undefined = diffWordsWithSpace(before, after, {
    maxEditLength: WORD_EDITS_MAX,
  });
  if (changes === undefined) return undefined;
  const parts = changes.map(({ value, added, removed }): Part => {
    return { text: value, kind: added ? "added" : removed ? "removed" : "same" };
  });
  const common = parts.reduce((sum, { kind, text }) => (kind === "same" ? sum + text.trim().length : sum), 0);
  return common >= COMMON_MIN * Math.min(before.length, after.length) ? parts : undefined;
}

function withContext(blocks: readonly Block[]): readonly ShownBlock[] {
  const isNear = blocks.map(() => false);
  blocks.forEach(({ kind }, at) => {
    if (kind !== "same") isNear.fill(true, Math.max(0, at - CONTEXT), at + CONTEXT + 1);
  });
  const shown: ShownBlock[] = [];
  let skipped = 0;
  const endSkipped = (): void => {
    if (skipped > 0) shown.push({ kind: "skipped", count: skipped });
    skipped = 0;
  };
  blocks.forEach((block, at) => {
    if (isNear[at] !== true) skipped += 1;
    else {
      endSkipped();
      shown.push(block);
    }
  });
  endSkipped();
  return shown;
}
