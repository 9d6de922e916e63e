import * as z from "zod";

/** Seed: workflow 2.2 and 8. */
export const PAGE_LIMIT_DEFAULT = 20;
export const PAGE_LIMIT_MAX = 10_000;

const WHOLE = /^[+-]?\d+$/;

/** A whole number in a query string. */
export function wholeNumber(min: number): z.ZodType<number, string> {
  return z.string().transform((text, context) => {
    const value = WHOLE.test(text) ? Number(text) : Number.NaN;
    if (!Number.isFinite(value)) {
      context.addIssue({ code: "custom", message: "must be a whole number" });
      return z.NEVER;
    }
    if (value < min) {
      context.addIssue({ code: "custom", message: `must be at least ${min}` });
      return z.NEVER;
    }
    return Math.min(value, Number.MAX_SAFE_INTEGER);
  });
}

/** `offset` and `limit` of a list; a limit above the maximum counts as the maximum. Seed: workflow 2.2. */
export const pageQuery = {
  offset: wholeNumber(0)
    .optional()
    .transform((value) => value ?? 0)
    .meta({ description: "Number of records to skip", type: "integer", minimum: 0, default: 0 }),
  limit: wholeNumber(1)
    .optional()
    .transform((value) => Math.min(value ?? PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX))
    .meta({
      description: `Maximum number of records to return, at most ${PAGE_LIMIT_MAX}`,
      type: "integer",
      minimum: 1,
      default: PAGE_LIMIT_DEFAULT,
    }),
};

/** `true` or `false`; empty counts as not given. */
export const booleanQuery = z
  .string()
  .transform((text, context) => {
    if (text === "") return undefined;
    if (text === "true" || text === "false") return text === "true";
    context.addIssue({ code: "custom", message: "must be true or false" });
    return z.NEVER;
  })
  .optional()
  .meta({ type: "boolean" });

/** A text filter; empty counts as not given. */
export const textQuery = z
  .string()
  .max(1024)
  .transform((text) => (text === "" ? undefined : text))
  .optional();

export const pagination = z.object({
  total: z.int().min(0),
  offset: z.int().min(0),
  limit: z.int().min(1),
});

export interface PageRequest {
  readonly offset: number;
  readonly limit: number;
}

/** A list of a service: the total, and the requested items, page by page. */
export interface Listing<Item> {
  readonly total: number;
  readonly items: AsyncIterable<readonly Item[]>;
}
