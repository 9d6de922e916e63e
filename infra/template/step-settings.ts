import { documentSettings } from "../../lib/settings/document-settings.ts";
import { STORED_SETTINGS } from "../../lib/settings/function-settings.ts";
import type { Setting, TemplateParameter } from "../../lib/settings/setting-types.ts";
import { settings } from "../../lib/settings/settings.ts";
import { ref } from "./intrinsics.ts";
import type { StackService } from "./services.ts";

/** Path of the document service's secrets in the parameter store, apart from the secrets that steps may name. */
export const DOCUMENT_SECRETS_PARAMETER = "DocumentSecretsPath";

/** A parameter of the main template that sets an environment variable of functions. */
interface FunctionParameter extends TemplateParameter {
  readonly variable: string;
  readonly description: string;
  readonly default: string;
  readonly values?: readonly string[];
}

const VALUE_MAX_LENGTH = 128;

const PARAMETERS: readonly FunctionParameter[] = [
  ...Object.entries<Setting>(settings).flatMap(([variable, { parameter, ...setting }]) =>
    parameter === undefined
      ? []
      : [
          {
            default: setting.default ?? "",
            ...constraints(setting),
            ...parameter,
            variable,
            description: setting.description,
          },
        ],
  ),
  {
    name: DOCUMENT_SECRETS_PARAMETER,
    variable: "WEFT_DOCUMENT_SECRETS_PATH",
    service: "documents",
    description:
      "Path in the parameter store of the document service's secrets and theme, each named after its setting",
    default: "/weft/documents",
    maxLength: 63,
    pattern: "^(?:/[A-Za-z0-9_.-]+)+$",
  },
  {
    name: "DocumentSecrets",
    variable: "WEFT_DOCUMENT_SECRETS",
    service: "documents",
    description: "The settings that exist at this path, separated by commas, such as OIDC_RS_PRIVATE_KEY_STR",
    default: "",
    pattern: "^[A-Z_, ]*$",
  },
];

/** What the type of a setting accepts, so that a deployment rejects other values. */
function constraints({ type: { values, range } }: Pick<Setting, "type">): Partial<FunctionParameter> {
  if (values !== undefined) return { values };
  if (range === undefined) return {};
  const max = String(range.max);
  const { length } = max;
  let pattern = range.min === 0 ? `[0-9]{1,${length}}` : `[1-9][0-9]{0,${length - 1}}`;
  if (/^10+$/.test(max)) pattern = `([1-9][0-9]{0,${length - 2}}|${max})`;
  return { maxLength: length, pattern: `^${pattern}$` };
}

/** The parameters of the main template. */
export function settingParameters(): Record<string, unknown> {
  return Object.fromEntries(
    PARAMETERS.map((parameter) => [
      parameter.name,
      {
        Type: "String",
        Description: parameter.description,
        Default: parameter.default,
        ...(parameter.pattern === undefined ? {} : { AllowedPattern: parameter.pattern }),
        ...(parameter.values === undefined
          ? { MaxLength: maxLength(parameter) }
          : { AllowedValues: parameter.values }),
      },
    ]),
  );
}

/** The same parameters in the template of a service, to which the main template passes their values. */
export function serviceSettingParameters(): Record<
  string,
  { readonly Type: "String"; readonly Description: string; readonly MaxLength: number }
> {
  return Object.fromEntries(
    PARAMETERS.map((parameter) => [
      parameter.name,
      { Type: "String", Description: parameter.description, MaxLength: maxLength(parameter) },
    ]),
  );
}

const maxLength = ({ values, maxLength: max = VALUE_MAX_LENGTH }: FunctionParameter): number =>
  values === undefined ? max : Math.max(...values.map(({ length }) => length));

export function settingDefaults(): Record<string, string> {
  return Object.fromEntries(PARAMETERS.map((parameter) => [parameter.name, parameter.default]));
}

/** The parameters that the main template passes to the template of a service. */
export function settingArguments(): Record<string, unknown> {
  return Object.fromEntries(PARAMETERS.map(({ name }) => [name, ref(name)]));
}

/** The environment of a service's functions. */
export function settingVariables(service: StackService): Record<string, unknown> {
  return Object.fromEntries(
    PARAMETERS.filter((parameter) => (parameter.service ?? service) === service).map(({ name, variable }) => [
      variable,
      ref(name),
    ]),
  );
}

/**
 * What the environment of consumers has in addition to that of their service, because they also process documents; and
 * not, because it would exceed Lambda's 4 KB: consumers call no language models.
 */
export const consumerVariables = (): Record<string, unknown> => ({
  DOCUMENT_SETTINGS: ref(settings.DOCUMENT_SETTINGS.parameter.name),
  LLM_PROVIDERS: "",
});

/** The parameter of the main template that sets this variable; undefined if functions do not read it. */
export function parameterOf(variable: string): string | undefined {
  if (!Object.hasOwn(documentSettings, variable))
    return PARAMETERS.find((parameter) => parameter.variable === variable)?.name;
  const isStored = STORED_SETTINGS.values.includes(variable) || STORED_SETTINGS.files.includes(variable);
  return isStored ? undefined : settings.DOCUMENT_SETTINGS.parameter.name;
}
