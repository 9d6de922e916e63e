import * as z from "zod";
import { documentParams } from "../fields.ts";

/** Maximum size of a comment's JSON, bytes. */
export const COMMENT_MAX_BYTES = 64 * 1024;
/** Maximum nesting of a comment. */
const COMMENT_MAX_DEPTH = 50;

/** Any JSON value except null, stored as JSON text. Reference 2.4. */
const jsonField = z
  .unknown()
  .superRefine((value, context) => {
    const problem = value === undefined ? "This field is required." : problemOf(value);
    if (problem !== undefined) context.addIssue(problem);
  })
  .transform((value) => JSON.stringify(value))
  .describe("Any JSON value except null");

function problemOf(value: unknown): string | undefined {
  if (value === null) return "This field may not be null.";
  if (depthOf(value) > COMMENT_MAX_DEPTH)
    return `Ensure this value is nested at most ${COMMENT_MAX_DEPTH} deep.`;
  if (Buffer.byteLength(JSON.stringify(value)) > COMMENT_MAX_BYTES)
    return `Ensure this value has no more than ${COMMENT_MAX_BYTES} bytes.`;
  return undefined;
}

/** Request bodies have limited nesting, so recursion is safe. */
function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Object.values(value).reduce((most: number, one) => Math.max(most, depthOf(one)), 0);
}

/** Body of a thread, and of a comment. Reference 1.12. */
export const commentBody = z.object({ body: jsonField });

/** Body of an update; `body` is optional. */
export const commentChange = z.object({ body: jsonField.optional() });

const NO_EMOJI = "Reaction must be a single valid emoji.";
const EMOJI = /^\p{RGI_Emoji}$/v;
/** Variation selector that some keyboards omit. */
const AS_EMOJI = "\u{fe0f}";

/** Reference 1.12. */
export const reactionBody = z.object({
  emoji: z.string().transform((text, context) => {
    const found = [text, text + AS_EMOJI].find((one) => EMOJI.test(one));
    if (found === undefined) context.addIssue(NO_EMOJI);
    return found ?? text;
  }),
});

const id = z.guid().transform((text) => text.toLowerCase());
export const threadParams = documentParams.extend({ thread: id });
export const commentParams = threadParams.extend({ comment: id });
