import { evaluate, isRaw } from "./evaluate.ts";
import { isReference, type Reference, type TemplateSource, toTemplate } from "./parse.ts";
import type { ShellOptions } from "./render-shell.ts";
import { ScriptLexer } from "./script-lexer.ts";
import { PROGRAM_CALL, REMOTE_CALL, SHELL_CALL, shellText } from "./script-shell.ts";
import { TemplateError } from "./template-error.ts";
import { toText, type Values } from "./values.ts";

/** Characters of preceding code that are kept; longer than the start of a call that SHELL_CALL matches. */
const TAIL = 32;

/** A call with a command for another host, and the current argument, counted from 0. */
interface RemoteCall {
  readonly depth: number;
  readonly brackets: number;
  argument: number;
}

export interface ScriptOptions extends Pick<ShellOptions, "trusted"> {
  /** The script is a condition: text that is a plain number is converted to that number. */
  readonly condition?: boolean;
}

export interface RenderedScript {
  readonly code: string;
  /** Values that the code references, by generated variable names. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Renders a script: values never become code. In code, a placeholder is a variable that holds the value (the texts
 * `true` and `false` become booleans); in a string or template literal it is the value's text; in a comment it is
 * empty. With `| raw` the value's text is code. The text of `exec_cmd` and `bash`, and the second argument of
 * `ssh_exec`, are rendered as shell commands. Throws TemplateError for a placeholder in a regular expression or after
 * a backslash; in the arguments of such a call, unless one quoted text is the whole argument; and in the arguments of
 * `exec_python` and `exec_ts`.
 */
export function renderScript(
  source: TemplateSource,
  values: Values,
  options: ScriptOptions = {},
): RenderedScript {
  const script = new Script(values, options);
  for (const part of toTemplate(source).parts) {
    if (!isReference(part)) script.text(part);
    else if (isRaw(part.expression)) script.text(toText(evaluate(part.expression, values).value));
    else script.value(part, evaluate(part.expression, values).value);
  }
  return script.done();
}

/** A number in plain notation; one with leading zeros is an id and stays text. */
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;

class Script {
  readonly #values: Values;
  readonly #options: ScriptOptions;
  readonly #lexer = new ScriptLexer();
  readonly #variables: Record<string, unknown> = {};
  #code = "";
  /** Definitions of string literals that contain values. They precede the code, on its first line. */
  #literals = "";
  #names = 0;
  /** Start of the quoted literal at the end of the code, and whether it contains a value. */
  #start = 0;
  #filled = false;
  /** The end of the code, with one space for white space and comments and a quote for each literal. */
  #tail = "";
  /** The last two significant characters of the code; a string literal counts as one. */
  #before = "";
  /** A literal that is a property name if a colon follows. */
  #maybeKey: string | undefined;
  /** Number of open parentheses, and the depths at which shell calls began. */
  #depth = 0;
  #shellCalls: number[] = [];
  /** Open calls whose second argument is a command for another host's shell. */
  #remoteCalls: RemoteCall[] = [];
  /** Number of open brackets and braces. */
  #brackets = 0;
  /** Depths of open calls whose text is a program in another language. */
  #programCalls: number[] = [];
  /** The parts of a literal that is a shell command; undefined in other literals. */
  #command: (string | Reference)[] | undefined;
  /** The end of a shell command that must be the only text in the call. */
  #commandEnd: Reference | undefined;

  constructor(values: Values, options: ScriptOptions) {
    this.#values = values;
    this.#options = options;
  }

  text(text: string): void {
    for (let index = 0; index < text.length; index += 1) {
      const character = text.charAt(index);
      const was = this.#lexer.place;
      this.#lexer.take(character, text.charAt(index + 1));
      const is = this.#lexer.place;
      if (was === "code" && (is === '"' || is === "'")) {
        this.#start = this.#code.length;
        this.#command = SHELL_CALL.test(this.#tail) || this.#atRemoteCommand() ? [] : undefined;
      } else if ((was === '"' || was === "'") && is === was) this.#command?.push(character);
      if (was === "code") this.#takeCode(is.endsWith("comment") ? " " : character);
      this.#code += character;
      if ((was === '"' || was === "'") && is === "code") this.#endLiteral();
    }
  }

  value(reference: Reference, value: unknown): void {
    const { offset } = reference;
    const { place, escaped } = this.#lexer;
    if (escaped) throw new TemplateError("a value in a script must not follow a backslash", offset);
    if (place === "regular expression") {
      throw new TemplateError("a regular expression must not contain a value: use new RegExp(…)", offset);
    }
    if (place.endsWith("comment")) return;
    if (this.#programCalls.length > 0) throw insideProgram(offset);
    if (this.#shellCalls.length > 0 || this.#mayBeRemoteCommand()) {
      if (this.#command === undefined || (place !== '"' && place !== "'")) throw outsideCommand(offset);
      this.#command.push(reference);
      this.#filled = true;
      this.#lexer.takeName();
      return;
    }
    const name = this.#newName("w");
    this.#variables[name] = place === "code" ? this.#inCode(value) : toText(value);
    if (place === "code") {
      this.#takeCode("v");
      this.#code += name;
    } else if (place === "template") this.#code += `\${${name}}`;
    else {
      this.#filled = true;
      this.#code += `${place} + ${name} + ${place}`;
    }
    this.#lexer.takeName();
  }

  /** Whether the code ends where the command of a remote call begins. */
  #atRemoteCommand(): boolean {
    const call = this.#remoteCalls.at(-1);
    return (
      call?.argument === 1 &&
      call.depth === this.#depth &&
      call.brackets === this.#brackets &&
      /,\s*$/.test(this.#tail)
    );
  }

  /** Arguments inside brackets are not counted, so any of them may be the command. */
  #mayBeRemoteCommand(): boolean {
    return this.#remoteCalls.some(({ argument, brackets }) => argument === 1 || brackets !== this.#brackets);
  }

  /** Outputs and params are text: `true` and `false` become booleans, and numbers are converted in conditions. */
  #inCode(value: unknown): unknown {
    if (value === "true" || value === "false") return value === "true";
    if (this.#options.condition === true && typeof value === "string" && NUMBER.test(value))
      return Number(value);
    return value ?? "";
  }

  done(): RenderedScript {
    return { code: this.#literals + this.#code, variables: this.#variables };
  }

  /** A literal that contains values becomes a variable, so that it stays one operand. */
  #endLiteral(): void {
    if (!this.#filled) return;
    this.#filled = false;
    const name = this.#newName("s");
    this.#literals += `var ${name} = ${this.#command === undefined ? this.#code.slice(this.#start) : this.#commandText(name)};`;
    this.#code = this.#code.slice(0, this.#start) + name;
    if (/^[{,]/.test(this.#before)) this.#maybeKey = name;
  }

  /**
   * A shell command is inserted as a variable: its text, preceded by assignments of the values, quoted for the shell.
   */
  #commandText(name: string): string {
    const pieces = this.#command ?? [];
    this.#commandEnd = pieces.find((piece) => typeof piece !== "string");
    this.#variables[`${name}c`] = shellText(pieces, this.#values, this.#options);
    return `${name}c`;
  }

  #takeCode(character: string): void {
    const isSpace = character.trim() === "";
    if (!isSpace) this.#meaningful(character);
    if (!isSpace || !this.#tail.endsWith(" "))
      this.#tail = (this.#tail + (isSpace ? " " : character)).slice(-TAIL);
  }

  #meaningful(character: string): void {
    const endsArgument = character === ")" || (character === "," && this.#remoteCalls.length > 0);
    if (this.#commandEnd !== undefined && !endsArgument) throw outsideCommand(this.#commandEnd.offset);
    this.#commandEnd = undefined;
    if (character === "(") {
      this.#depth += 1;
      if (SHELL_CALL.test(`${this.#tail}(`)) this.#shellCalls.push(this.#depth);
      if (PROGRAM_CALL.test(`${this.#tail}(`)) this.#programCalls.push(this.#depth);
      if (REMOTE_CALL.test(`${this.#tail}(`))
        this.#remoteCalls.push({ depth: this.#depth, brackets: this.#brackets, argument: 0 });
    } else if (character === "[" || character === "{") this.#brackets += 1;
    else if (character === "]" || character === "}") this.#brackets -= 1;
    else if (character === ",") {
      const call = this.#remoteCalls.at(-1);
      if (call?.depth === this.#depth && call.brackets === this.#brackets) call.argument += 1;
    } else if (character === ")") {
      if (this.#shellCalls.at(-1) === this.#depth) this.#shellCalls.pop();
      if (this.#programCalls.at(-1) === this.#depth) this.#programCalls.pop();
      if (this.#remoteCalls.at(-1)?.depth === this.#depth) this.#remoteCalls.pop();
      this.#depth -= 1;
    }
    if (this.#maybeKey !== undefined && character === ":") {
      const at = this.#code.lastIndexOf(this.#maybeKey);
      this.#code = `${this.#code.slice(0, at)}[${this.#maybeKey}]${this.#code.slice(at + this.#maybeKey.length)}`;
    }
    this.#maybeKey = undefined;
    this.#before = (this.#before + character).slice(-2);
  }

  #newName(kind: "w" | "s"): string {
    this.#names += 1;
    return `__${kind}${this.#names}`;
  }
}

function outsideCommand(offset: number): TemplateError {
  return new TemplateError(
    'a value in the arguments of exec_cmd or bash, or in the command of ssh_exec, must be within a string literal that is the whole argument: exec_cmd("… {{x}} …")',
    offset,
  );
}

function insideProgram(offset: number): TemplateError {
  return new TemplateError(
    'a program of exec_python or exec_ts must not contain a value: pass it with os_setenv("X", {{x}}), and read the variable in the program',
    offset,
  );
}
