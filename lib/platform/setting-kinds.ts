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
