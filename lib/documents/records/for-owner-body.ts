import * as z from "zod";
import { textField } from "../fields.ts";
import { normalizeEmail } from "../tables/users.ts";
import { TITLE_MAX_LENGTH } from "./body.ts";

const SUB_MAX_LENGTH = 255;
const EMAIL_MAX_LENGTH = 254;
const LANGUAGE_MAX_LENGTH = 40;
const SUBJECT_MAX_LENGTH = 255;
const MESSAGE_MAX_LENGTH = 2_000;

/** Body of a document created by a server for a user. Reference 1.8. */
export const forOwnerBody = z.object({
  title: textField(TITLE_MAX_LENGTH).min(1),
  content: z.string().regex(/\S/, "This field may not be blank.").describe("Markdown"),
  sub: z
    .string()
    .min(1)
    .max(SUB_MAX_LENGTH)
    .regex(/^[!-~]*$/, "Enter a valid sub. This value should be ASCII only.")
    .describe("The owner's id at the identity provider"),
  email: z.string().trim().min(1).max(EMAIL_MAX_LENGTH).transform(normalizeEmail).pipe(z.email()),
  language: z
    .string()
    .max(LANGUAGE_MAX_LENGTH)
    .nullish()
    .describe("Language of the email if the owner has no account, a code of LANGUAGES"),
  message: textField(MESSAGE_MAX_LENGTH).nullish().describe("Text of the email"),
  subject: textField(SUBJECT_MAX_LENGTH).nullish().describe("Subject of the email"),
  send_notification_email: z.boolean().default(true),
});
export type ForOwnerBody = z.infer<typeof forOwnerBody>;
