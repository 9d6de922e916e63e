import { evaluate } from "./evaluate.ts";
import { isReference, type TemplateSource, toTemplate } from "./parse.ts";
import type { Values } from "./values.ts";

export function renderScript(source: TemplateSource, values: Values): { code: string; variables: Record<string, unknown> } {
  const variables: Record<string, unknown> = {};
  let code = "";
  let n = 0;
  for (const part of toTemplate(source).parts) {
    if (!isReference(part)) { code += part; continue; }
    n += 1;
    const name = `__w${n}`;
    variables[name] = (evaluate(part.expression, values) as { value?: unknown }).value ?? "";
    const q = code.at(-1);
    code += q === '"' || q === "'" ? `${q} + ${name} + ${q}` : name;
  }
  return { code, variables };
}
