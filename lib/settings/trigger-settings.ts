import * as z from "zod";

const text = (otherwise: string) =>
  z
    .string()
    .optional()
    .transform((value) => (value === undefined || value === "" ? otherwise : value));

const limit = (otherwise: string) =>
  text(otherwise)
    .refine((value) => /^[1-9]\d{0,8}$/.test(value), "must be a whole number of at least 1")
    .transform(Number);

/** Settings of triggers: rows of `settings`. */
export const triggerSettingsShape = {
  TRIGGER_FIRES_PER_MINUTE: limit("6000").meta({
    description: "Fires of one trigger in a minute, beyond which it starts nothing until the next",
    default: "6000",
  }),
  RUNS_PER_ROOT_CAUSE_MAX: limit("1000").meta({
    description:
      "Runs that one event or request may start through the runs that it started; further ones are refused",
    default: "1000",
  }),
  WATCH_ROOTS: text("")
    .transform((value) => value.split(":").filter((root) => root !== ""))
    .refine((roots) => roots.every((root) => root.startsWith("/")), "must be absolute paths with : between")
    .meta({
      description: "Folders that watch triggers may look into besides the workspaces, with : between them",
      default: "",
    }),
};
