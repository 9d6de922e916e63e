import * as z from "zod";

/** A JSON object. The parsed object itself is kept: nothing is copied, so that no key can reach a prototype. */
export const jsonObject = z.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "must be an object",
);
