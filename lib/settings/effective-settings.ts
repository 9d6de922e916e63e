import { readBundle } from "./read.ts";
import type { Setting } from "./setting-types.ts";
import { settings } from "./settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A setting as it is in effect. */
export interface EffectiveSetting {
  readonly name: string;
  readonly description: string;
  /** Null if it has none, or is a secret. */
  readonly value: string | null;
  /** As the documentation states it; null if there is none. */
  readonly default: string | null;
  readonly is_set: boolean;
  readonly is_secret: boolean;
}

/** The settings of an environment, without secrets. In Lambda only those that functions receive. */
export function effectiveSettings(given: Environment): EffectiveSetting[] {
  const environment: Environment = { ...readBundle(given.DOCUMENT_SETTINGS), ...given };
  const isLambda = given.AWS_LAMBDA_FUNCTION_NAME !== undefined;
  return Object.entries<Setting>(settings)
    .filter(([name]) => !isLambda || isGiven(environment, name))
    .map(([name, setting]) => {
      const { description, documentedDefault, default: fallback, acceptsEmpty } = setting;
      const text = environment[name];
      const isSecret = setting.isSecret === true || setting.isHidden === true;
      const isSet = text !== undefined && (text !== "" || acceptsEmpty === true);
      return {
        name,
        description,
        value: isSecret ? null : ((isSet ? text : fallback) ?? null),
        default: documentedDefault ?? fallback ?? null,
        is_set: isSet || Boolean(environment[`${name}_FILE`]),
        is_secret: isSecret,
      };
    });
}

const isGiven = (environment: Environment, name: string): boolean =>
  environment[name] !== undefined || environment[`${name}_FILE`] !== undefined;
