import * as z from "zod";

/** A JSON object, kept as the very object that was parsed: nothing is copied, so no key can reach a prototype. */
export const jsonObject = z.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "must be an object",
);
