/** How the text of a setting is parsed. */
export interface SettingType<Value> {
  /** Throws an Error that completes the sentence "<name>: …" and never contains the text. */
  parse(text: string): Value;
  /** The accepted texts, for the template. */
  readonly values?: readonly string[];
  /** The accepted integers, for the template. */
  readonly range?: { readonly min: number; readonly max: number };
}

/** A row of the settings table. */
export interface Setting {
  readonly type: SettingType<unknown>;
  /** Parsed if the setting is unset or empty. Without a default the value is then undefined. */
  readonly default?: string;
  /** What the documentation shows if the default depends on other settings or on the machine. */
  readonly documentedDefault?: string;
  readonly description: string;
  /** The empty text is a value of its own instead of unset. */
  readonly acceptsEmpty?: true;
  /** Not accepted in DOCUMENT_SETTINGS; `<NAME>_FILE` may name a file that contains the value. */
  readonly isSecret?: true;
  /** The value may contain secrets, so it is never shown. */
  readonly isHidden?: true;
  /** The value is the path of a file. In Lambda, the parameter store holds the content of the file. */
  readonly isPath?: true;
  /** The parameter of template.yaml that sets it for functions in Lambda. */
  readonly parameter?: TemplateParameter;
}

export interface TemplateParameter {
  readonly name: string;
  /** The service whose functions read it; both services if absent. */
  readonly service?: "workflows" | "documents";
  /** The template's default, if it differs from the setting's. */
  readonly default?: string;
  /** Characters. The environment of a function holds 4 KB in total. */
  readonly maxLength?: number;
  /** What a value must match, if neither `values` nor `range` of the type says it. */
  readonly pattern?: string;
}

export const text = (maxLength = Number.POSITIVE_INFINITY): SettingType<string> => ({
  parse: (value) => {
    if (value.length > maxLength) throw new Error(`must have at most ${maxLength} characters`);
    return value;
  },
});

export const validText = (isValid: (value: string) => boolean, requirement: string): SettingType<string> => ({
  parse: (value) => {
    if (!isValid(value)) throw new Error(`must be ${requirement}`);
    return value;
  },
});

export const matching = (pattern: RegExp, requirement: string): SettingType<string> =>
  validText((value) => pattern.test(value), requirement);

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  1: true,
  yes: true,
  on: true,
  false: false,
  0: false,
  no: false,
  off: false,
};

export const boolean: SettingType<boolean> = {
  values: ["true", "false"],
  parse: (value) => {
    const lower = value.toLowerCase();
    if (!Object.hasOwn(BOOLEANS, lower)) throw new Error("must be true or false");
    return BOOLEANS[lower] === true;
  },
};

const alternatives = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} or ${texts.at(-1) ?? ""}`;

export const oneOf = <const Value extends string>(...values: readonly Value[]): SettingType<Value> => ({
  values,
  parse: (value) => {
    const found = values.find((each) => each === value);
    if (found === undefined) throw new Error(`must be ${alternatives(values)}`);
    return found;
  },
});

export const integer = (min: number, max: number, noun = "an integer"): SettingType<number> => ({
  range: { min, max },
  parse: (value) => {
    if (!/^\d{1,15}$/.test(value) || Number(value) < min || Number(value) > max)
      throw new Error(`must be ${noun} from ${min} to ${max}`);
    return Number(value);
  },
});

/** The parts of a URL that a setting may forbid. */
const URL_PARTS = { username: "user name", password: "password", search: "query", hash: "fragment" } as const;

interface UrlRules {
  readonly protocols?: readonly string[];
  readonly without?: readonly (keyof typeof URL_PARTS)[];
  readonly maxLength?: number;
  /** Also accepts a path that begins with a slash. */
  readonly orPath?: boolean;
}

export const url = ({
  protocols = ["http", "https"],
  without = [],
  maxLength = Number.POSITIVE_INFINITY,
  orPath = false,
}: UrlRules = {}): SettingType<string> => {
  const schemes = alternatives(protocols.map((protocol) => `${protocol}://`));
  const parts = alternatives(without.map((part) => URL_PARTS[part]));
  return validText(
    (value) => {
      if (value.length > maxLength) return false;
      if (orPath && value.startsWith("/")) return true;
      const parsed = URL.parse(value);
      if (parsed === null || !protocols.includes(parsed.protocol.slice(0, -1))) return false;
      return without.every((part) => parsed[part] === "");
    },
    `a URL that begins with ${schemes}${parts === "" ? "" : `, without a ${parts}`}${orPath ? ", or a path" : ""}`,
  );
};

/** Items separated by commas; empty items are skipped. */
export const list = (
  isItem: (item: string) => boolean = () => true,
  requirement = "",
): SettingType<readonly string[]> => ({
  parse: (value) => {
    const items = value
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
    if (!items.every(isItem)) throw new Error(`must be ${requirement}`);
    return items;
  },
});

/** The address of a server: a host and a port, or a socket of this machine. */
export type SocketAddress = { readonly host: string; readonly port: number } | { readonly path: string };

const HOST_AND_PORT = /^(?:\[([0-9a-f:]{2,45})\]|([a-z0-9_.-]{1,253})):(\d{1,5})$/i;

export const socketAddress: SettingType<SocketAddress> = {
  parse: (value) => {
    if (/^\/[^\0]{1,100}$/.test(value)) return { path: value };
    const [, six, name, digits] = HOST_AND_PORT.exec(value) ?? [];
    const [host, port] = [six ?? name, Number(digits)];
    if (host === undefined || port < 1 || port > 65_535)
      throw new Error("must be host:port, or the absolute path of a Unix socket");
    return { host, port };
  },
};

export const absolutePaths: SettingType<readonly string[]> = {
  parse: (value) => {
    const paths = value.split(":").filter((path) => path !== "");
    if (!paths.every((path) => path.startsWith("/")))
      throw new Error("must be absolute paths separated by colons");
    return paths;
  },
};

const HOUR_MS = 3_600_000;
const RETENTION_UNITS_MS: Readonly<Record<string, number>> = {
  h: HOUR_MS,
  d: 24 * HOUR_MS,
  w: 7 * 24 * HOUR_MS,
};
/** Milliseconds; undefined for no limit. */
export const retention: SettingType<number | undefined> = {
  parse: (value) => {
    if (value === "off") return undefined;
    if (!/^[1-9]\d{0,4}[hdw]$/.test(value))
      throw new Error("must be off or a number of hours, days or weeks such as 12h, 30d or 8w");
    return Number(value.slice(0, -1)) * (RETENTION_UNITS_MS[value.slice(-1)] ?? 0);
  },
};

/** The type with the value converted. */
export const mapped = <From, To>(type: SettingType<From>, convert: (value: From) => To): SettingType<To> => ({
  ...type,
  parse: (value) => convert(type.parse(value)),
});
