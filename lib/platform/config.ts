import * as z from "zod";

const onOff = z
  .string()
  .optional()
  .transform((text, context) => {
    if (text === undefined || text === "") return undefined;
    if (["true", "1", "yes", "on"].includes(text.toLowerCase())) return true;
    if (["false", "0", "no", "off"].includes(text.toLowerCase())) return false;
    context.addIssue({ code: "custom", message: "must be true or false" });
    return z.NEVER;
  });

const text = (otherwise: string) =>
  z
    .string()
    .optional()
    .transform((value) => (value === undefined || value === "" ? otherwise : value));

const RUNS_AT_ONCE = 100;
const STEPS_AT_ONCE = 256;

const count = (otherwise: number, most: number) =>
  text(String(otherwise))
    .refine(
      (value) => /^\d{1,6}$/.test(value) && Number(value) >= 1 && Number(value) <= most,
      `must be a whole number from 1 to ${most}`,
    )
    .transform(Number);

/** The settings, one row each, over the environment. From here come the template's environment and the README's table. */
export const settings = z.object({
  PORT: text("3000")
    .refine((value) => /^\d{1,5}$/.test(value) && Number(value) <= 65_535, "must be a port, 0 to 65535")
    .transform(Number)
    .meta({ description: "Port of the gateway; 0 takes any free one", default: "3000" }),
  HOST: text("127.0.0.1").meta({ description: "Address that the gateway listens on", default: "127.0.0.1" }),
  WEFT_DATA_DIR: text("./.weft").meta({
    description: "The one folder that everything lies in",
    default: "./.weft",
  }),
  WEFT_ACCESS_TOKEN: z
    .string()
    .optional()
    .transform((value) => (value === "" ? undefined : value))
    .refine((value) => value === undefined || value.length >= 16, "must have at least 16 characters")
    .meta({
      description: "Access token of the owner; without it one is made at the first start",
      default: "",
    }),
  WEFT_PLATFORM: text("embedded")
    .refine((value): value is Platform => value === "embedded" || value === "aws", "must be embedded or aws")
    .meta({
      description:
        "Where tables, queues, bus and blobs are: in the data folder, or at AWS (or AWS_ENDPOINT_URL)",
      default: "embedded",
    }),
  WEFT_STACK: text("weft")
    .refine((value) => /^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(value), "must be the name of a stack")
    .meta({
      description: "Name of the stack whose resources are used, on the platform aws",
      default: "weft",
    }),
  WEFT_WORKER: onOff.meta({
    description:
      "Whether this server also executes steps that touch files; false leaves them to `weft worker`",
    default: "true",
  }),
  SCHEDULER_ENABLED: onOff.meta({ description: "Whether schedules fire", default: "true" }),
  RUNS_CONCURRENCY_MAX: count(RUNS_AT_ONCE, 10_000).meta({
    description: "Runs that go at once; further ones wait, `pending`, for their turn by priority, then age",
    default: String(RUNS_AT_ONCE),
  }),
  STEPS_CONCURRENCY_MAX: count(STEPS_AT_ONCE, 10_000).meta({
    description: "Steps that this server or worker executes at once; further ones wait in their queues",
    default: String(STEPS_AT_ONCE),
  }),
  EVENT_RECEIVER_ENABLED: onOff.meta({
    description: "Whether events trigger workflows",
    default: "as SCHEDULER_ENABLED",
  }),
});

export type Platform = "embedded" | "aws";

export interface Config {
  readonly platform: Platform;
  readonly stack: string;
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  readonly accessToken: string | undefined;
  readonly worker: boolean;
  readonly schedulerEnabled: boolean;
  readonly receiverEnabled: boolean;
  readonly runsAtOnce: number;
  readonly stepsAtOnce: number;
}

/** The one setting that a worker has in common with a server. Throws an Error that names it. */
export function readStepsAtOnce(environment: Readonly<Record<string, string | undefined>>): number {
  const parsed = settings.shape.STEPS_CONCURRENCY_MAX.safeParse(environment["STEPS_CONCURRENCY_MAX"]);
  if (!parsed.success) throw new Error(`STEPS_CONCURRENCY_MAX: ${parsed.error.issues[0]?.message}`);
  return parsed.data;
}

/** Reads the settings. Throws an Error that names each one that is wrong. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const parsed = settings.safeParse(environment);
  if (!parsed.success) {
    throw new Error(
      parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; "),
    );
  }
  const scheduler = parsed.data.SCHEDULER_ENABLED ?? true;
  const worker = parsed.data.WEFT_WORKER ?? true;
  if (!worker && parsed.data.WEFT_PLATFORM === "embedded")
    throw new Error("WEFT_WORKER: must be true on the embedded platform, which workers cannot reach");
  return {
    platform: parsed.data.WEFT_PLATFORM,
    stack: parsed.data.WEFT_STACK,
    port: parsed.data.PORT,
    host: parsed.data.HOST,
    dataDir: parsed.data.WEFT_DATA_DIR,
    accessToken: parsed.data.WEFT_ACCESS_TOKEN,
    worker,
    schedulerEnabled: scheduler,
    receiverEnabled: parsed.data.EVENT_RECEIVER_ENABLED ?? scheduler,
    runsAtOnce: parsed.data.RUNS_CONCURRENCY_MAX,
    stepsAtOnce: parsed.data.STEPS_CONCURRENCY_MAX,
  };
}
