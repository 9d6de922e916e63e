import { textOf } from "./argument-values.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";

type Level = Parameters<FunctionContext["log"]>[0];

function logger(level: Level, returns: "string" | "nothing"): LibraryFunction {
  return {
    group: "logging",
    params: ["message"],
    returns,
    summary: `Writes the message to the step's log at level ${level}`,
    run: ([message], context) => {
      context.log(level, textOf(message));
      return returns === "string" ? textOf(message) : undefined;
    },
  };
}

function printer(colour: string): LibraryFunction {
  return {
    group: "color_printing",
    params: ["message"],
    returns: "string",
    summary: `Writes the message to the step's log, without the color ${colour}`,
    run: ([message], context) => {
      context.log("info", textOf(message));
      return textOf(message);
    },
  };
}

export const outputFunctions = {
  log_debug: logger("debug", "nothing"),
  log_info: logger("info", "string"),
  log_warn: logger("warn", "nothing"),
  log_error: logger("error", "nothing"),
  printf: {
    group: "utility",
    params: ["message"],
    returns: "nothing",
    summary: "Writes the message to the step's log",
    run: ([message], context) => context.log("info", textOf(message)),
  },
  print_green: printer("green"),
  print_blue: printer("blue"),
  print_yellow: printer("yellow"),
  print_red: printer("red"),
} satisfies Record<string, LibraryFunction>;
