import * as z from "zod";

const SURROGATE = /\p{Surrogate}/u;

/** Text field: trimmed, without NUL characters and lone surrogates. Reference 1.0. */
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

/** The document id in a path. A malformed id returns 404. */
export const documentParams = z.object({ id: z.guid().transform((id) => id.toLowerCase()) });

const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false, "1": true, "0": false };

/** Boolean parameter. Other values are ignored. Reference 1.0. */
export const flag = (description: string) =>
  z
    .string()
    .optional()
    .transform((text) => (text === undefined ? undefined : BOOLEANS[text.toLowerCase()]))
    .meta({ description, type: "boolean" });
