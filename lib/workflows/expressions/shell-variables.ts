import { TemplateError } from "./template-error.ts";

/** Writes a value to a file that the command can read, and returns its path. */
export type WriteFile = (name: string, value: string) => string;

export interface ShellFile {
  /** The variable into which the command reads the file. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
}

export interface VariableLimits {
  /** Largest value in the environment, bytes of UTF-8. */
  readonly maxEnvBytes: number;
  /** Total size of the values in the environment, bytes of UTF-8. */
  readonly maxTotalBytes: number;
  readonly writeFile: WriteFile | undefined;
}

/** The distinct values of a shell command, as environment variables `W1`, `W2` … or as files above the limits. */
export class ShellVariables {
  readonly env: Record<string, string> = {};
  readonly files: ShellFile[] = [];
  readonly #names = new Map<string, string>();
  readonly #prefix: string;
  readonly #limits: VariableLimits;
  #bytes = 0;

  /** `source` is the command's text; the variables get names that do not occur in it. */
  constructor(source: string, limits: VariableLimits) {
    const used = new Set(source.match(/\bW_*(?=\d)/g));
    let prefix = "W";
    while (used.has(prefix)) prefix += "_";
    this.#prefix = prefix;
    this.#limits = limits;
  }

  /** The name of the variable that holds the value. */
  bind(value: string, offset: number): string {
    const known = this.#names.get(value);
    if (known !== undefined) return known;
    const name = `${this.#prefix}${this.#names.size + 1}`;
    this.#names.set(value, name);
    const bytes = Buffer.byteLength(value);
    const { maxEnvBytes, maxTotalBytes, writeFile } = this.#limits;
    if (bytes <= maxEnvBytes && this.#bytes + bytes <= maxTotalBytes) {
      this.#bytes += bytes;
      this.env[name] = value;
      return name;
    }
    if (writeFile === undefined) {
      throw new TemplateError(`the value is too large for a command's environment: ${bytes} bytes`, offset);
    }
    const path = writeFile(name, value);
    this.env[`${name}_FILE`] = path;
    this.files.push({ name, path, bytes });
    return name;
  }

  /**
   * Commands on one line that read the files into variables of the shell, which are not exported. `$(…)` drops
   * trailing newlines, hence the x after them.
   */
  get prelude(): string {
    return this.files
      .map(({ name }) => `${name}="$(cat <"\${${name}_FILE}"; printf x)"; ${name}="\${${name}%x}"; `)
      .join("");
  }
}
