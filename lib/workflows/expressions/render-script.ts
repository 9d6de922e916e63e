import { evaluate, isRaw } from "./evaluate.ts";
import { isReference, type Reference, type TemplateSource, toTemplate } from "./parse.ts";
import type { ShellOptions } from "./render-shell.ts";
import { ScriptLexer } from "./script-lexer.ts";
import { PROGRAM_CALL, REMOTE_CALL, SHELL_CALL, shellText } from "./script-shell.ts";
import { TemplateError } from "./template-error.ts";
import { toText, type Values } from "./values.ts";

/** Code kept to look back at, characters: longer than the start of a call that SHELL_CALL finds. */
const TAIL = 32;

/** A call with a command for another host, and the argument under way, counted from 0. */
interface RemoteCall {
  readonly depth: number;
  readonly brackets: number;
  argument: number;
}

export interface ScriptOptions extends Pick<ShellOptions, "trusted"> {
  /** The script is a condition: text that is a plain number counts as that number. */
  readonly condition?: boolean;
}

export interface RenderedScript {
  readonly code: string;
  /** Values that the code names, under names of ours. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Renders a script: values never become code. In code a placeholder is a variable that holds the value, the
 * texts `true` and `false` as truth values; in a string or template literal it is the value's text; in a
 * comment it is nothing. With `| raw` the value's text is code. The text of `exec_cmd` and `bash`, and the second of
 * `ssh_exec`, is a shell command, and its values are rendered as in one. Throws TemplateError for a placeholder in a regular expression, after a backslash, anywhere in the
 * arguments of such a call but in one quoted text that is all of them, or in those of `exec_python` and `exec_ts`.
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

/** A number as people write it; one with zeros before it is an id, and stays text. */
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;

class Script {
  readonly #values: Values;
  readonly #options: ScriptOptions;
  readonly #lexer = new ScriptLexer();
  readonly #variables: Record<string, unknown> = {};
  #code = "";
  /** Definitions of string literals with values in them. They stand before the code, on its first line. */
  #literals = "";
  #names = 0;
  /** Where the quoted literal that the code ends in begins, and whether a value is in it. */
  #start = 0;
  #filled = false;
  /** The end of the code, with one space for white space and comments and a quote for each literal. */
  #tail = "";
  /** The last two characters of the code that mean something, a string literal being one of them. */
  #before = "";
  /** A literal that is a property's name if a colon comes next. */
  #maybeKey: string | undefined;
  /** Open parentheses, and at which of them a shell call began. */
  #depth = 0;
  #shellCalls: number[] = [];
  /** Likewise calls whose second text a shell of another host runs. */
  #remoteCalls: RemoteCall[] = [];
  /** Open brackets and braces. */
  #brackets = 0;
  /** Likewise calls whose text is a program. */
  #programCalls: number[] = [];
  /** The pieces of a literal that is a shell command; undefined in any other. */
  #command: (string | Reference)[] | undefined;
  /** Where a shell command ended that must be all there is in the call. */
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
    if (escaped) throw new TemplateError("a backslash cannot stand before a value in a script", offset);
    if (place === "regular expression") {
      throw new TemplateError("a value cannot stand in a regular expression: use new RegExp(…)", offset);
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

  /** Inside of brackets nobody counts arguments: that may be the command. */
  #mayBeRemoteCommand(): boolean {
    return this.#remoteCalls.some(({ argument, brackets }) => argument === 1 || brackets !== this.#brackets);
  }

  /** Outputs and parameters are text: `true` and `false` are meant as such, numbers where they are compared. */
  #inCode(value: unknown): unknown {
    if (value === "true" || value === "false") return value === "true";
    if (this.#options.condition === true && typeof value === "string" && NUMBER.test(value))
      return Number(value);
    return value ?? "";
  }

  done(): RenderedScript {
    return { code: this.#literals + this.#code, variables: this.#variables };
  }

  /** A literal with values in it becomes a name, so that it stays one operand wherever it stands. */
  #endLiteral(): void {
    if (!this.#filled) return;
    this.#filled = false;
    const name = this.#newName("s");
    this.#literals += `var ${name} = ${this.#command === undefined ? this.#code.slice(this.#start) : this.#commandText(name)};`;
    this.#code = this.#code.slice(0, this.#start) + name;
    if (/^[{,]/.test(this.#before)) this.#maybeKey = name;
  }

  /** A shell command goes in as a variable: its text with the values quoted for the shell before it. */
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
    'a value in the arguments of exec_cmd or bash, or in the command of ssh_exec, must stand in one quoted text that is all of it: exec_cmd("… {{x}} …")',
    offset,
  );
}

function insideProgram(offset: number): TemplateError {
  return new TemplateError(
    'a value cannot stand in a program of exec_python or exec_ts: set it with os_setenv("X", {{x}}) before, and read it there',
    offset,
  );
}
