import * as z from "zod";
import { textField } from "../fields.ts";

export const TITLE_MAX_LENGTH = 255;
const EXCERPT_MAX_LENGTH = 300;
/** UUID versions 1, 3, 4 and 5 (RFC 9562). Reference 0.2. */
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1345][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

export const titleField = textField(TITLE_MAX_LENGTH).nullish();
const excerptField = textField(EXCERPT_MAX_LENGTH).nullish();

/** Body of a new document. Reference 1.2. */
export const createBody = z.object({
  id: z
    .string()
    .regex(ID, "The provided ID is not a valid UUID.")
    .transform((id) => id.toLowerCase())
    .nullish()
    .describe("A UUID of the caller's choice"),
  title: titleField,
  excerpt: excerptField,
});
export type CreateBody = z.infer<typeof createBody>;

/** Body of an update. Reference 1.2. */
export const updateBody = z.object({
  title: titleField,
  excerpt: excerptField,
  websocket: z.boolean().nullish().describe("Whether the caller is connected to the collaboration server"),
});
export type UpdateBody = z.infer<typeof updateBody>;
