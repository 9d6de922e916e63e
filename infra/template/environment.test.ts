import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { partOf } from "../provision/intrinsics.ts";

/** Lambda's limit of the names and values of a function's environment, bytes. */
const ENVIRONMENT_MAX_BYTES = 4096;
/** The longest values of references that are no parameters with a maximum length: a bucket, and paths of parameters. */
const STACK_NAME_MAX = 40;
const REFERENCE_MAX = 128;

it.each(["workflows", "documents"])(
  "the environment of each function of the %s fits Lambda's limit, whatever the parameters are",
  async (service) => {
    const path = fileURLToPath(new URL(`../stacks/${service}.yaml`, import.meta.url));
    const { Globals, Parameters, Resources } = partOf(parse(await readFile(path, "utf8")));
    const lengthOf = (value: unknown): number => {
      if (typeof value === "string") return Buffer.byteLength(value);
      const name = String(partOf(value).Ref);
      if (["StackName", "EventBusName"].includes(name)) return STACK_NAME_MAX;
      const max = partOf(partOf(Parameters)[name]).MaxLength;
      return typeof max === "number" ? max : REFERENCE_MAX;
    };
    const variables = (owner: unknown) => partOf(partOf(partOf(owner).Environment).Variables);
    const common = variables(partOf(Globals).Function);
    const sizes = Object.values(partOf(Resources))
      .map(partOf)
      .filter(({ Type }) => Type === "AWS::Serverless::Function")
      .map(({ Properties }) =>
        Object.entries({ ...common, ...variables(Properties) }).reduce(
          (sum, [name, value]) => sum + name.length + lengthOf(value),
          0,
        ),
      );
    expect(Math.max(...sizes)).toBeGreaterThan(ENVIRONMENT_MAX_BYTES / 2);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(ENVIRONMENT_MAX_BYTES);
  },
);
