/** Commands that read one of their words as a program of their own, and which word that is. */
interface ProgramReader {
  /**
   * `flag`: the word behind a flag; `first`: the first word that is no option, or the one behind a flag;
   * `after-first`: every word behind the first that is no option; `all`: every word.
   */
  readonly program: "flag" | "first" | "after-first" | "all";
  readonly flag?: RegExp;
  /** Options with words of their own, and how many. */
  readonly options?: Readonly<Record<string, number>>;
  /** Options by which the program comes from a file. */
  readonly fileOptions?: readonly string[];
}

const SHELL: ProgramReader = { program: "flag", flag: /^-\w*c$/, options: { "-o": 1, "-O": 1 } };
const AWK: ProgramReader = { program: "first", options: { "-v": 1, "-F": 1 }, fileOptions: ["-f"] };
const SED: ProgramReader = { program: "first", flag: /^-\w*e$/, fileOptions: ["-f"] };
const SCRIPT: ProgramReader = { program: "flag", flag: /^-\w*[ecrp]$/i };
const WITH_WORD = [
  "-b",
  "-c",
  "-D",
  "-E",
  "-F",
  "-i",
  "-J",
  "-l",
  "-L",
  "-m",
  "-o",
  "-p",
  "-R",
  "-S",
  "-w",
  "-W",
];

const READERS: Readonly<Record<string, ProgramReader>> = {
  ...Object.fromEntries(["bash", "sh", "dash", "zsh", "ksh"].map((name) => [name, SHELL])),
  ...Object.fromEntries(["awk", "gawk", "mawk", "nawk"].map((name) => [name, AWK])),
  ...Object.fromEntries(["sed", "gsed"].map((name) => [name, SED])),
  ...Object.fromEntries(["python", "python3", "perl", "ruby", "node", "php"].map((name) => [name, SCRIPT])),
  jq: {
    program: "first",
    options: { "--arg": 2, "--argjson": 2, "--slurpfile": 2, "--rawfile": 2, "--indent": 1, "-L": 1 },
    fileOptions: ["-f", "--from-file"],
  },
  eval: { program: "all" },
  let: { program: "all" },
  ssh: { program: "after-first", options: Object.fromEntries(WITH_WORD.map((option) => [option, 1])) },
};

/** Follows the words of one simple command and says whether the next one is a program, and whose. */
export class ProgramWatch {
  #name = "";
  #reader: ProgramReader | undefined;
  #skip = 0;
  #flagged = false;
  #operands = 0;

  /** A complete word, as written but for quotes around it. */
  word(word: string): void {
    const reader = this.#reader;
    if (reader === undefined) {
      const name = word.slice(word.lastIndexOf("/") + 1);
      if (!Object.hasOwn(READERS, name)) return;
      this.#name = name;
      this.#reader = READERS[name];
      this.#operands = 0;
    } else if (this.#skip > 0) {
      this.#skip -= 1;
    } else if (this.#flagged) {
      this.#flagged = false;
      this.#reader = undefined;
    } else if (reader.flag?.test(word)) {
      this.#flagged = true;
    } else if (reader.fileOptions?.includes(word)) {
      this.#reader = undefined;
    } else if (reader.options !== undefined && Object.hasOwn(reader.options, word)) {
      this.#skip = reader.options[word] ?? 0;
    } else if (!word.startsWith("-")) {
      this.#operands += 1;
      if (reader.program === "first" || reader.program === "flag") this.#reader = undefined;
    }
  }

  /** The command that will read the word begun with `start` as a program. */
  readerOf(start: string): string | undefined {
    const reader = this.#reader;
    if (reader === undefined || this.#skip > 0) return undefined;
    const isProgram =
      this.#flagged ||
      reader.program === "all" ||
      (reader.program === "first" && !start.startsWith("-")) ||
      (reader.program === "after-first" && this.#operands > 0);
    return isProgram ? this.#name : undefined;
  }
}
