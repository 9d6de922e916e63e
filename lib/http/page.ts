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

/**
 * The order of a list: a field, or a field after `-` for the reverse. The first choice is the default; empty counts as
 * not given.
 */
export const orderingQuery = <const Choice extends string>(choices: readonly [Choice, ...Choice[]]) =>
  z
    .string()
    .optional()
    .transform((text = "", context): Choice => {
      const choice = text === "" ? choices[0] : choices.find((one) => one === text);
      if (choice !== undefined) return choice;
      context.addIssue({ code: "custom", message: `must be one of ${choices.join(", ")}` });
      return z.NEVER;
    })
    .meta({
      description: "Field to sort by; `-` before it reverses the order",
      type: "string",
      enum: [...choices],
      default: choices[0],
    });

/** The order of a list that an index serves in the order of arrival, from either end. */
export const arrivalOrderingQuery = orderingQuery(["-created_at", "created_at"]);

export const pagination = z.object({
  total: z.int().min(0),
  offset: z.int().min(0),
  limit: z.int().min(1),
});

export interface PageRequest {
  readonly offset: number;
  readonly limit: number;
}

/** A page of a list that is stored newest first. */
export interface OrderedPageRequest extends PageRequest {
  /** The list begins with its oldest record. */
  readonly oldestFirst?: boolean;
}

/** A list of a service: the total, and the requested items, page by page. */
export interface Listing<Item> {
  readonly total: number;
  readonly items: AsyncIterable<readonly Item[]>;
}
