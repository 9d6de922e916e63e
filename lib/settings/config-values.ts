import * as z from "zod";

export const onOff = z
  .string()
  .optional()
  .transform((text, context) => {
    if (text === undefined || text === "") return undefined;
    if (["true", "1", "yes", "on"].includes(text.toLowerCase())) return true;
    if (["false", "0", "no", "off"].includes(text.toLowerCase())) return false;
    context.addIssue({ code: "custom", message: "must be true or false" });
    return z.NEVER;
  });

export const text = (otherwise: string) =>
  z
    .string()
    .optional()
    .transform((value) => (value === undefined || value === "" ? otherwise : value));

export const optionalText = z
  .string()
  .optional()
  .transform((value) => (value === "" ? undefined : value));

export const folders = z
  .string()
  .optional()
  .transform((value) => (value ?? "").split(":").filter((folder) => folder !== ""))
  .refine(
    (list) => list.every((folder) => folder.startsWith("/")),
    "must be absolute folders with `:` between",
  );

export const count = (otherwise: number, most: number) =>
  text(String(otherwise))
    .refine(
      (value) => /^\d{1,6}$/.test(value) && Number(value) >= 1 && Number(value) <= most,
      `must be a whole number from 1 to ${most}`,
    )
    .transform(Number);

const DAY_MS = 86_400_000;
const AGE_UNITS_MS: Readonly<Record<string, number>> = { h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };

/** How old something may become, milliseconds; undefined where it is kept for ever. */
export const retention = text("off")
  .refine(
    (value) => value === "off" || /^[1-9]\d{0,4}[hdw]$/.test(value),
    "must be off, or hours, days or weeks such as 12h, 30d, 8w",
  )
  .transform((value) =>
    value === "off" ? undefined : Number(value.slice(0, -1)) * (AGE_UNITS_MS[value.slice(-1)] ?? 0),
  );
