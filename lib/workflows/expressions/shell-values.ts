import type { CommandList, Expansion, Redirection, SimpleCommand, Span } from "./shell-commands.ts";
import type { LexedShell } from "./shell-lexer.ts";
import { type Structure, structureOf } from "./shell-structure.ts";
import { unquote } from "./shell-words.ts";

/** How the value of a hole is inserted: quoted for an inner shell, or as several words. */
export type HoleKind = "shell" | "split" | undefined;

/** A value from which text was derived. */
export interface Taint {
  /** The number of its hole in the whole command. */
  readonly hole: number;
  /** Whether the text is the value itself, not derived from it by a command. */
  readonly exact: boolean;
}

/** Initial values of a shell. */
export interface ValueContext {
  readonly names: ReadonlyMap<string, Taint>;
  readonly positional: Taint | undefined;
  readonly input: Taint | undefined;
  /** Number of enclosing programs. */
  readonly depth: number;
}

/** A word of a command, or an argument that `xargs` adds from its input. */
export interface Word {
  readonly span: Span;
  /** The word without quotes; expansions that cannot be evaluated stay as written. */
  readonly text: string;
  readonly taint: Taint | undefined;
  /** Whether the value may become several words. */
  readonly splits: boolean;
  /** Whether it begins with the value. */
  readonly leads: boolean;
  /** Whether the whole word is an unquoted expansion, which may be empty, so that the next word takes its position. */
  readonly vanishes: boolean;
}

/** A word that consists only of unquoted expansions, or of lists. */
const VANISHES = /^(?:\$(?:\w+|[@*]|\{[^}]*\}|\(.*\))|`.*`|"\$(?:@|\{@[^}]*\}|\{\w+\[@\][^}]*\})")+$/s;

/** Commands that print the environment, which contains the values. */
const PRINTS_VALUES =
  /^(?:printenv(?:\s.*)?|(?:env|set|export|declare|typeset|readonly|compgen)(?:\s+-\S+)*|(?:declare|typeset|export|readonly)\s+-\w*p\b.*)$/s;
/** All values are in the environment; the first represents them. */
const ANY_VALUE: Taint = { hole: 0, exact: false };

/** Which values the texts, variables and inputs of a shell's commands are derived from. */
export class ShellValues {
  readonly lexed: LexedShell;
  readonly structures = new Map<CommandList, Structure>();
  readonly names: Map<string, Taint>;
  readonly functions: ReadonlySet<string>;
  readonly functionInput = new Map<string, Taint>();
  positional: Taint | undefined;
  /** Commands that print all values. */
  readonly #printing: readonly { readonly index: number }[];
  readonly #source: string;
  readonly #context: ValueContext;
  readonly #kindOf: (hole: number) => HoleKind;
  readonly #outer: (hole: number) => number;

  constructor(
    source: string,
    lexed: LexedShell,
    holes: { readonly kindOf: (hole: number) => HoleKind; readonly outer: (hole: number) => number },
    context: ValueContext,
  ) {
    this.lexed = lexed;
    this.names = new Map(context.names);
    this.positional = context.positional;
    this.#source = source;
    this.#context = context;
    this.#kindOf = holes.kindOf;
    this.#outer = holes.outer;
    for (const list of lexed.lists) this.structures.set(list, structureOf(source, list));
    this.#printing = lexed.lists
      .flatMap(({ commands }) => commands)
      .filter((command) =>
        PRINTS_VALUES.test(this.textOf({ ...command, end: command.words.at(-1)?.end ?? command.start })),
      )
      .map(({ start }) => ({ index: start }))
      .sort((one, other) => one.index - other.index);
    this.functions = new Set([...this.structures.values()].flatMap(({ functions }) => functions));
  }

  /** The first value in a range of the text, in a variable it expands, or in the output of a command in it. */
  taintOf({ start, end }: Span, list: CommandList): Taint | undefined {
    const { holes, expansions } = this.lexed;
    for (let at = firstFrom(holes, start); at < holes.length; at += 1) {
      const hole = holes[at];
      if (hole === undefined || hole.index >= end) break;
      if (hole.quoting === "comment") continue;
      return { hole: this.#outer(at), exact: this.isExact(hole.list, list) };
    }
    for (let at = firstFrom(expansions, start); at < expansions.length; at += 1) {
      const expansion = expansions[at];
      if (expansion === undefined || expansion.index >= end) break;
      const taint = this.valueOf(expansion);
      if (taint !== undefined) return { ...taint, exact: taint.exact && this.isExact(expansion.list, list) };
    }
    const printing = this.#printing[firstFrom(this.#printing, start)];
    return printing !== undefined && printing.index < end ? ANY_VALUE : undefined;
  }

  valueOf({ name }: Expansion): Taint | undefined {
    if (/^[\d@*]/.test(name)) return name === "0" && this.#context.depth === 0 ? undefined : this.positional;
    return this.names.get(name);
  }

  /** Whether the text of one list reaches the other unchanged: only `echo` and `printf` are between them. */
  isExact(inner: CommandList, outer: CommandList): boolean {
    for (
      let list: CommandList | undefined = inner;
      list !== undefined && list !== outer;
      list = list.parent
    ) {
      if (list.opener === "array") continue;
      const plain = list.commands.every(({ words: [first] }) =>
        /^(?:echo|printf|cat)$/.test(first === undefined ? "" : this.textOf(first)),
      );
      if (!plain) return false;
    }
    return true;
  }

  textOf({ start, end }: Span): string {
    return this.#source.slice(start, end);
  }

  #expansionsIn({ start, end }: Span): readonly Expansion[] {
    const { expansions } = this.lexed;
    return expansions.slice(firstFrom(expansions, start), firstFrom(expansions, end));
  }

  word(span: Span, list: CommandList): Word {
    const taint = this.taintOf(span, list);
    const written = this.textOf(span);
    const at = firstFrom(this.lexed.holes, span.start);
    const kind = (this.lexed.holes[at]?.index ?? span.end) < span.end ? this.#kindOf(at) : undefined;
    const bare = this.#expansionsIn(span).some((one) => one.bare && this.valueOf(one) !== undefined);
    const unquoted = /^\$\(|^`/.test(written);
    return {
      span,
      text: unquote(written),
      taint,
      splits: kind === "split" || bare || (unquoted && taint !== undefined),
      leads: taint !== undefined && /^["']?(?:\0|\$|`)/.test(written),
      vanishes: VANISHES.test(written),
    };
  }

  /** The value in the input of the command at a position of its list. */
  inputOf(list: CommandList, index: number): Taint | undefined {
    const structure = this.structures.get(list);
    if (structure === undefined) return undefined;
    const own = this.redirectedInput(list.commands[index]?.redirections ?? [], list);
    if (own !== undefined) return own.taint;
    const piped = this.#pipedInput(list, structure, index);
    if (piped !== undefined) return piped.taint;
    for (let block = structure.parsed[index]?.block; block !== undefined; block = block.parent) {
      if (block.function !== undefined) return this.functionInput.get(block.function);
      const closer = this.redirectedInput(list.commands[block.close]?.redirections ?? [], list);
      if (closer !== undefined) return closer.taint;
      const before = this.#pipedInput(list, structure, block.open);
      if (before !== undefined) return before.taint;
    }
    const { parent } = list;
    if (parent === undefined) return this.#context.input;
    const around = lastFrom(parent.commands, list.start);
    if (around < 0) return undefined;
    if (this.#source.slice(list.start - 2, list.start) === ">(") {
      const command = parent.commands[around] as SimpleCommand;
      return this.taintOf(command, parent) ?? this.inputOf(parent, around);
    }
    return this.inputOf(parent, around);
  }

  redirectedInput(
    redirections: readonly Redirection[],
    list: CommandList,
  ): { readonly taint: Taint | undefined; readonly redirection: Redirection } | undefined {
    const redirection = redirections.findLast(
      ({ operator, descriptor }) => operator.startsWith("<") && (descriptor === "" || descriptor === "0"),
    );
    if (redirection?.span === undefined) return undefined;
    const { operator, span, quoted } = redirection;
    const isText = operator !== "<" || this.textOf(span).startsWith("<(");
    if (!isText) return { taint: undefined, redirection };
    const taint = quoted === true ? this.#holeIn(span) : this.taintOf(span, list);
    return { taint, redirection };
  }

  #holeIn({ start, end }: Span): Taint | undefined {
    const at = firstFrom(this.lexed.holes, start);
    const hole = this.lexed.holes[at];
    return hole === undefined || hole.index >= end ? undefined : { hole: this.#outer(at), exact: true };
  }

  /** The values that all earlier commands of the pipeline pass to this one; undefined for the first command. */
  #pipedInput(
    list: CommandList,
    { closed }: Structure,
    index: number,
  ): { readonly taint: Taint | undefined } | undefined {
    if (list.commands[index]?.piped !== true) return undefined;
    let first = index - 1;
    for (;;) {
      const block = closed.get(first);
      if (block !== undefined) first = block.open;
      if (list.commands[first]?.piped !== true) break;
      first -= 1;
    }
    const taint = this.#taintOfCommands(list, first, index) ?? this.inputOf(list, first);
    return { taint };
  }

  #taintOfCommands(list: CommandList, from: number, to: number): Taint | undefined {
    for (const command of list.commands.slice(from, to)) {
      const [name] = command.words;
      const called = name === undefined ? "" : this.textOf(name);
      const taint =
        this.taintOf(command, list) ??
        this.redirectedInput(command.redirections, list)?.taint ??
        this.#taintOfFunction(called);
      if (taint !== undefined) return taint;
    }
    return undefined;
  }

  /** A value in the output of a function. */
  #taintOfFunction(name: string): Taint | undefined {
    if (!this.functions.has(name)) return undefined;
    for (const [list, { blocks }] of this.structures) {
      for (const { function: named, open, close } of blocks) {
        if (named !== name) continue;
        for (const command of list.commands.slice(open, close + 1)) {
          const taint =
            this.taintOf(command, list) ?? this.redirectedInput(command.redirections, list)?.taint;
          if (taint !== undefined) return taint;
        }
      }
    }
    return undefined;
  }
}

/** The index of the first entry at or after `start`. */
export function firstFrom(entries: readonly { readonly index: number }[], start: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.index ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The index of the last span that begins at or before `place`; -1 if there is none. */
function lastFrom(spans: readonly Span[], place: number): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.start ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export function taintOfAll(words: readonly Word[]): Taint | undefined {
  return words.find(({ taint }) => taint !== undefined)?.taint;
}
