import * as z from "zod";

const SURROGATE = /\p{Surrogate}/u;

/** Text of a field without blanks around it, as clients know it: neither a byte of 0 nor half a character is in it. Reference 1.0. */
export const textField = (most: number) =>
  z
    .string()
    .trim()
    .max(most)
    .refine((text) => !text.includes("\0"), "Null characters are not allowed.")
    .refine((text) => !SURROGATE.test(text), {
      error: ({ input }) => {
        const [half = ""] = SURROGATE.exec(String(input)) ?? [];
        return `Surrogate characters are not allowed: U+${half.charCodeAt(0).toString(16).toUpperCase()}.`;
      },
    });

/** The id in a path; anything else is a document that is not there. */
export const documentParams = z.object({ id: z.guid().transform((id) => id.toLowerCase()) });
