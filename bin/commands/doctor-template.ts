import { readFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { policySizes } from "../../infra/roles/policies.ts";
import { LONGEST } from "../../infra/template/policies.ts";
import { countResources, type SamTemplate } from "../../infra/template/sam-template.ts";
import { readTemplateFiles, type Template } from "../../localstack/template.ts";
import { parseTemplate, type TemplateNode } from "../../localstack/template-node.ts";

/** Assumed length of a reference, whose value is known only after deployment: the maximum of a stack name. */
const REFERENCE_BYTES = 128;

/** Counts of one template. */
export interface StackCounts {
  /** Relative to the main template's folder. */
  readonly file: string;
  /** After SAM's transform. */
  readonly resources: number;
  readonly functions: number;
  readonly rules: number;
  readonly queues: number;
  readonly tables: number;
  readonly parameters: number;
  readonly outputs: number;
  readonly bytes: number;
  /** API Gateway resources: one for each path segment, and the root; 0 without an API. */
  readonly apiResources: number;
  /** The largest managed policy, with the longest possible names of stack and region. */
  readonly largestPolicy: { readonly role: string; readonly characters: number } | null;
  readonly mostPolicies: { readonly role: string; readonly policies: number } | null;
  /** The function with the longest environment, and its maximum length; null without functions. */
  readonly longestEnvironment: { readonly function: string; readonly bytes: number } | null;
}

export interface CountedTemplate {
  readonly template: Template;
  readonly stacks: readonly StackCounts[];
}

/** Reads a template and its nested templates. Throws TemplateError. */
export function countTemplate(path: string): CountedTemplate {
  const { template, files } = readTemplateFiles(path);
  return { template, stacks: files.map((file) => countStack(file, relative(dirname(path), file))) };
}

function countStack(path: string, file: string): StackCounts {
  const text = readFileSync(path, "utf8");
  const root = parseTemplate(text, path);
  const resources = root.at("Resources").entries();
  const ofType = (type: string) => resources.filter(([, resource]) => resource.at("Type").text() === type);
  const shared = variablesOf(root.at("Globals").at("Function"));
  const longest = parameterLengths(root);
  const environments = ofType("AWS::Serverless::Function").map(([id, resource]) => ({
    function: id,
    bytes: bytesOf({ ...shared, ...variablesOf(resource.at("Properties")) }, longest),
  }));
  const [largest] = environments.sort((left, right) => right.bytes - left.bytes);
  const policies = [...policySizes(text, LONGEST)];
  const bySize = policies.map(([role, sizes]) => ({ role, characters: Math.max(0, ...sizes) }));
  const byCount = policies.map(([role, sizes]) => ({ role, policies: sizes.length }));
  return {
    file,
    ...countResources(root.record() as unknown as SamTemplate),
    rules: ofType("AWS::Events::Rule").length,
    queues: ofType("AWS::SQS::Queue").length,
    tables: ofType("AWS::DynamoDB::Table").length,
    parameters: root.at("Parameters").entries().length,
    outputs: root.at("Outputs").entries().length,
    bytes: Buffer.byteLength(text),
    apiResources: countApiResources(
      ofType("AWS::Serverless::Function").flatMap(([, resource]) =>
        resource
          .at("Properties")
          .at("Events")
          .entries()
          .filter(([, event]) => event.at("Type").text() === "Api")
          .map(([, event]) => event.at("Properties").at("Path").text()),
      ),
    ),
    largestPolicy: bySize.sort((left, right) => right.characters - left.characters)[0] ?? null,
    mostPolicies: byCount.sort((left, right) => right.policies - left.policies)[0] ?? null,
    longestEnvironment: largest ?? null,
  };
}

/** Paths share the resources of a common prefix. */
function countApiResources(paths: readonly string[]): number {
  const parts = paths.flatMap((path) => {
    const names = path.split("/").filter((name) => name !== "");
    return names.map((_, index) => names.slice(0, index + 1).join("/"));
  });
  return paths.length === 0 ? 0 : new Set(parts).size + 1;
}

type Variables = Readonly<Record<string, unknown>>;

function variablesOf(properties: TemplateNode): Variables {
  const variables = properties.at("Environment").at("Variables");
  return variables.exists ? variables.record() : {};
}

/** The maximum length of each parameter that declares one. */
function parameterLengths(root: TemplateNode): ReadonlyMap<string, number> {
  return new Map(
    root
      .at("Parameters")
      .entries()
      .flatMap(([name, parameter]) => {
        const most = parameter.at("MaxLength");
        return most.exists ? [[name, most.number()] as const] : [];
      }),
  );
}

/** The maximum size of an environment: its names and values. */
function bytesOf(variables: Variables, longest: ReadonlyMap<string, number>): number {
  return Object.entries(variables).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value, longest),
    0,
  );
}

function valueBytes(value: unknown, longest: ReadonlyMap<string, number>): number {
  if (typeof value !== "object" || value === null) return Buffer.byteLength(String(value));
  const { "Fn::Sub": text, Ref: name } = value as { "Fn::Sub"?: unknown; Ref?: unknown };
  if (typeof text !== "string") return longest.get(String(name)) ?? REFERENCE_BYTES;
  return Buffer.byteLength(text.replace(/\$\{[^}]*\}/g, "x".repeat(REFERENCE_BYTES)));
}
