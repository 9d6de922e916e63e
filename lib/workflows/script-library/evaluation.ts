import { isBlank, numberOf, textOf } from "./argument-values.ts";
import { type FunctionContext, type LibraryFunction, ScriptError } from "./library-types.ts";

/** State of one evaluation, so that scripts do not share state. */
interface Kept {
  readonly variables: Map<string, unknown>;
  readonly environment: Map<string, string>;
}

const KEPT_MAX = 1_000;
const VARIABLE_MAX_CHARS = 1024 * 1024;
const NAME_MAX_CHARS = 256;
const ENVIRONMENT_MAX_CHARS = 96 * 1024;
const PICKED_MAX = 10;
const SKIP_MESSAGE_CHARS = 1_000;
const LONGEST_SLEEP_SECONDS = 3_600;
const kept = new WeakMap<FunctionContext, Kept>();

function keptBy(context: FunctionContext): Kept {
  const found = kept.get(context) ?? { variables: new Map(), environment: new Map() };
  kept.set(context, found);
  return found;
}

/** Variables that `os_setenv` set in this evaluation, for the processes that it starts. */
export function setEnvironment(context: FunctionContext): Readonly<Record<string, string>> {
  return Object.fromEntries(kept.get(context)?.environment ?? []);
}

export const evaluationFunctions = {
  set_var: {
    group: "runtime_vars",
    params: ["name", "value"],
    returns: "any",
    summary: "Stores a value for the rest of this script, and returns it",
    run: ([name, value], context: FunctionContext) => {
      const { variables } = keptBy(context);
      const key = textOf(name);
      if (key === "" || key.length > NAME_MAX_CHARS)
        throw new ScriptError(`set_var: the name must have 1 to ${NAME_MAX_CHARS} characters`);
      if (textOf(value).length > VARIABLE_MAX_CHARS)
        throw new ScriptError(`set_var: the value must have at most ${VARIABLE_MAX_CHARS} characters`);
      if (!variables.has(key) && variables.size >= KEPT_MAX)
        throw new ScriptError(`set_var: a script can store at most ${KEPT_MAX} values`);
      variables.set(key, value ?? "");
      return value ?? "";
    },
  },
  get_var: {
    group: "runtime_vars",
    params: ["name"],
    returns: "any",
    summary: "The value that set_var stored in this script; empty if the name has no value",
    run: ([name], context: FunctionContext) => keptBy(context).variables.get(textOf(name)) ?? "",
  },
  os_getenv: {
    group: "environment",
    params: ["name"],
    returns: "string",
    summary: "A variable of the step's environment, never of the server's; empty if it is not set",
    run: ([name], context: FunctionContext) => {
      const key = textOf(name);
      const set = keptBy(context).environment.get(key);
      return set ?? (Object.hasOwn(context.env, key) ? context.env[key] : "");
    },
  },
  os_setenv: {
    group: "environment",
    params: ["name", "value"],
    returns: "boolean",
    summary: "Sets a variable for os_getenv and for the commands of the rest of this script",
    failure: false,
    run: ([name, value], context: FunctionContext) => {
      const { environment } = keptBy(context);
      const key = textOf(name);
      const text = textOf(value);
      if (!/^[A-Za-z_]\w{0,255}$/.test(key)) throw new Error("the name of the variable is not valid");
      if (text.includes("\0") || text.length > ENVIRONMENT_MAX_CHARS)
        throw new Error(`a variable must have at most ${ENVIRONMENT_MAX_CHARS} characters and no NUL`);
      if (!environment.has(key) && environment.size >= KEPT_MAX)
        throw new Error(`a script can set at most ${KEPT_MAX} variables`);
      environment.set(key, text);
      return true;
    },
  },
  pick_valid: {
    group: "utility",
    params: ["first", "second?"],
    returns: "any",
    summary: `The first of up to ${PICKED_MAX} values that is not empty, false or the text undefined or null; else empty`,
    example: 'pick_valid(get_var("host"), target, "localhost")',
    run: (values) =>
      values
        .slice(0, PICKED_MAX)
        .find(
          (value) => value !== false && !isBlank(value) && !/^(?:undefined|null)$/.test(textOf(value).trim()),
        ) ?? "",
  },
  sleep: {
    group: "utility",
    params: ["seconds"],
    returns: "nothing",
    summary: "Waits for a number of seconds, at most an hour and at most until the step's timeout",
    run: ([seconds], context: FunctionContext) => {
      const wanted = Math.min(Math.max(0, numberOf(seconds, 0)), LONGEST_SLEEP_SECONDS);
      context.sleep(wanted * 1000);
    },
  },
  skip: {
    group: "utility",
    params: ["message?"],
    returns: "nothing",
    summary: "Ends the script successfully and skips the steps after this one (in a flow: of this module)",
    example: 'skip("nothing to do")',
    run: ([message], context: FunctionContext) => {
      const text = textOf(message).slice(0, SKIP_MESSAGE_CHARS);
      context.skip(text);
      throw new ScriptError(`skip: ${text}`);
    },
  },
  exit: {
    group: "utility",
    params: ["code"],
    returns: "nothing",
    summary: "Ends the script: with code 0 successfully, else with an error that fails the step",
    run: ([code]) => {
      const number = Math.trunc(numberOf(code, 0));
      if (number !== 0) throw new ScriptError(`exit: the script ended with code ${number}`);
    },
  },
} satisfies Record<string, LibraryFunction>;
