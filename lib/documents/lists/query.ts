import * as z from "zod";
import { flag } from "../fields.ts";
import { parseTerms, TERMS_MAX } from "../full-text/words.ts";
import { ORDERINGS } from "./filter-and-sort.ts";

const TEXT_MAX_LENGTH = 255;

/** Choice parameter. Other values are ignored. */
const oneOf = <const Choice extends string>(choices: readonly Choice[], description: string) =>
  z
    .string()
    .optional()
    .transform((text) => choices.find((choice) => choice === text))
    .meta({ description, type: "string", enum: [...choices] });

/** Filters and orderings of lists. Reference 1.2. */
export const listQuery = {
  title: z.string().max(TEXT_MAX_LENGTH).optional().describe("Part of the title, ignoring case and accents"),
  q: z.string().max(TEXT_MAX_LENGTH).optional().describe("Same as `title`"),
  is_creator_me: flag("Whether the caller is the creator"),
  is_favorite: flag("Whether it is a favorite of the caller"),
  is_masked: flag("Whether the caller has masked it"),
  ordering: oneOf(ORDERINGS, "Default `-updated_at`"),
};

/** Reference 1.2. */
export const trashQuery = { ordering: oneOf(["deleted_at", "-deleted_at"], "Default `-deleted_at`") };

/** Reference 1.4. */
export const searchQuery = {
  q: z
    .string()
    .trim()
    .max(TEXT_MAX_LENGTH)
    .refine(
      (q) => parseTerms(q).length <= TERMS_MAX,
      `Ensure this value has no more than ${TERMS_MAX} words.`,
    )
    .describe(
      "Part of the title, or words that the document contains; words in quotes follow each other. An empty text matches everything",
    ),
  title: listQuery.title,
  document: z
    .guid("Must be a valid UUID.")
    .transform((id) => id.toLowerCase())
    .optional()
    .describe("In this document and its descendants"),
  path: z.string().min(1).optional().describe("In the document with this path and its descendants"),
  ordering: oneOf(ORDERINGS, "Default: best match first; within a document, tree order"),
};
