import * as z from "zod";

export const SEVERITIES = ["critical", "high", "medium", "low", "info"] as const;
type Severity = (typeof SEVERITIES)[number];

export interface SarifFinding {
  readonly rule: string;
  readonly severity: Severity;
  readonly title: string;
  readonly description: string;
  /** File and line; the rule if no file is given. */
  readonly location: string;
}

const FINDINGS_MAX = 100_000;
const DESCRIPTION_MAX = 200;
const SEVERITY_OF_LEVEL: Readonly<Record<string, Severity>> = {
  error: "high",
  warning: "medium",
  note: "low",
};

const text = z.string().catch("");
const message = z.object({ text }).catch({ text: "" });
const location = z
  .object({
    physicalLocation: z.object({
      artifactLocation: z.object({ uri: text }).catch({ uri: "" }),
      region: z.object({ startLine: z.number().catch(0) }).catch({ startLine: 0 }),
    }),
  })
  .optional()
  .catch(undefined);
const rule = z.object({
  id: text,
  name: text,
  shortDescription: message,
  defaultConfiguration: z.object({ level: text }).catch({ level: "" }),
});
const result = z.object({ ruleId: text, level: text, message, locations: z.array(location).catch([]) });
const sarif = z.object({
  runs: z.array(
    z.object({
      tool: z.object({ driver: z.object({ name: text, rules: z.array(rule).catch([]) }) }),
      results: z.array(result).max(FINDINGS_MAX).nullish(),
    }),
  ),
});

/** The findings of a SARIF document, most severe first. Throws if the document is invalid. */
export function readSarif(json: string): {
  readonly tool: string;
  readonly findings: readonly SarifFinding[];
} {
  const parsed = sarif.safeParse(JSON.parse(json));
  if (!parsed.success)
    throw new Error(`the file is not SARIF: ${z.prettifyError(parsed.error).slice(0, 300)}`);
  const { runs } = parsed.data;
  const findings = runs.flatMap(({ tool, results }) => {
    const rules = new Map(tool.driver.rules.map((one) => [one.id, one]));
    return (results ?? []).map((one) => toFinding(one, rules.get(one.ruleId)));
  });
  const rank = ({ severity }: SarifFinding): number => SEVERITIES.indexOf(severity);
  const tool = runs.map((run) => run.tool.driver.name).find((name) => name !== "") ?? "unknown tool";
  return { tool, findings: findings.sort((a, b) => rank(a) - rank(b)) };
}

function toFinding(found: z.infer<typeof result>, about: z.infer<typeof rule> | undefined): SarifFinding {
  const level = found.level || about?.defaultConfiguration.level || "";
  const { artifactLocation, region } = found.locations[0]?.physicalLocation ?? {};
  const file = artifactLocation?.uri ?? "";
  const line = region?.startLine ?? 0;
  const description = found.message.text;
  return {
    rule: found.ruleId,
    severity: SEVERITY_OF_LEVEL[level.toLowerCase()] ?? "info",
    title: about?.name || about?.shortDescription.text || found.ruleId,
    description:
      description.length > DESCRIPTION_MAX ? `${description.slice(0, DESCRIPTION_MAX)}…` : description,
    location: file === "" ? found.ruleId : line > 0 ? `${file}:${line}` : file,
  };
}
