/** Programs that execute text of their command line or input. */
export interface Reader {
  /** A shell: its programs are analysed, and `| shell` quotes for it. */
  readonly isShell?: true;
  /** Options that are followed by a program as a separate word. */
  readonly programFlag?: RegExp;
  /** Options that contain the program in the same word; matches up to its start. */
  readonly attachedFlag?: RegExp;
  /** Options that are followed by the file or module that contains the program. */
  readonly fileFlag?: RegExp;
  /** Options that take the next word. */
  readonly valueFlag?: RegExp;
  /** Options that take the next two words. */
  readonly pairFlag?: RegExp;
  /**
   * Meaning of the operands. `file`: the first names the file that contains the program; `program`: the first is the
   * program; `programs`: all together are the program; `after-first`: all but the first are the program.
   */
  readonly operands?: "file" | "program" | "programs" | "after-first";
  /** Reads a program from its input if the command line has none. */
  readonly readsInput?: true;
  /** Accepts options after operands. */
  readonly permutes?: true;
  /** Matches a literal program that starts commands, which the data may name. */
  readonly starts?: RegExp;
}

const SHELL: Reader = {
  isShell: true,
  programFlag: /^-\w*c\w*$/,
  fileFlag: /^--(?:rcfile|init-file)$/,
  valueFlag: /^[-+][oO]$/,
  operands: "file",
  readsInput: true,
};
/** Runs a shell for the program after `-c`, otherwise a shell that reads its input. */
const LOGIN: Reader = {
  isShell: true,
  programFlag: /^(?:-\w*c|--command|--session-command)$/,
  attachedFlag: /^(?:-\w*c|--command=|--session-command=)$/,
  readsInput: true,
};
const language = (flags: string, long: readonly string[] = []): Reader => ({
  programFlag: new RegExp(`^(?:-\\w*[${flags}]${long.map((name) => `|--${name}`).join("")})$`),
  attachedFlag: new RegExp(`^(?:-\\w*[${flags}].*${long.map((name) => `|--${name}=.*`).join("")})$`, "s"),
  operands: "file",
  readsInput: true,
});
const PYTHON: Reader = { ...language("c"), valueFlag: /^-[WX]$/, fileFlag: /^-m$/ };
const AWK: Reader = {
  programFlag: /^(?:-e|--source)$/,
  attachedFlag: /^(?:-e|--source=)/,
  fileFlag: /^(?:-f|--file|-i|--include|-E|--exec)$/,
  valueFlag: /^(?:-[vF]|--assign|--field-separator)$/,
  operands: "program",
  starts: /\bsystem\s*\(|\|\s*&?\s*getline|\bprintf?\b[^;{}]*\|/,
};
const SED: Reader = {
  programFlag: /^(?:-[a-zA-Z]*e|--expression)$/,
  attachedFlag: /^(?:-[a-zA-Z]*e|--expression=)$/,
  fileFlag: /^(?:-[a-zA-Z]*f|--file)$/,
  operands: "program",
  permutes: true,
  starts: /(?:^|[;{}\n])\s*[\d,$]*\s*e\b|[^\w\s\\][gpiImM\d]*e[gpiImM\d]*\s*(?:$|[;}\n])/,
};
/** Reads commands from its input, whatever its operands are. */
const TOOL: Reader = { readsInput: true };
const DATABASE: Reader = {
  programFlag: /^(?:-[ce]|--command|--execute|--eval|-cmd)$/,
  attachedFlag: /^(?:-[ce]|--(?:command|execute|eval)=)/,
  valueFlag: /^-[UhpdPutv]$/,
  fileFlag: /^(?:-f|--file)$/,
  readsInput: true,
};

const READERS: Readonly<Record<string, Reader>> = {
  ...named("sh bash dash zsh ksh mksh ash rbash fish csh tcsh", SHELL),
  ...named("su runuser", LOGIN),
  script: { ...LOGIN, readsInput: true },
  ...named("python pypy", PYTHON),
  perl: { ...language("eE"), valueFlag: /^-[Ix]$/, programFlag: /^-\w*[eE]$/ },
  ruby: { ...language("e"), valueFlag: /^-[IrC]$/ },
  ...named("node nodejs bun tsx", {
    ...language("ep", ["eval", "print"]),
    valueFlag: /^(?:-r|--require|--import)$/,
  }),
  deno: { ...language("", []), programFlag: /^eval$/, attachedFlag: /^\b$/ },
  php: { ...language("rBRE", ["run"]), fileFlag: /^(?:-f|--file)$/, valueFlag: /^-[dcz]$/ },
  ...named("lua luajit osascript tclsh wish expect Rscript R julia groovy pwsh gnuplot", {
    ...language("ecE", ["eval", "command", "Command"]),
  }),
  ...named("awk gawk mawk nawk", AWK),
  ...named("sed gsed", SED),
  jq: {
    fileFlag: /^(?:-f|--from-file)$/,
    valueFlag: /^(?:--indent|-L)$/,
    pairFlag: /^--(?:arg|argjson|slurpfile|rawfile)$/,
    operands: "program",
  },
  ...named("at batch ed ex dc gdb", TOOL),
  ...named("crontab m4", { ...TOOL, operands: "file" }),
  ...named("psql mysql mariadb mongosh mongo", DATABASE),
  sqlite3: { ...DATABASE, programFlag: /^-cmd$/, attachedFlag: /^\b$/, operands: "after-first" },
  eval: { isShell: true, operands: "programs" },
  trap: { isShell: true, operands: "program" },
  watch: { isShell: true, valueFlag: /^(?:-n|--interval|-q|--equexit)$/, operands: "programs" },
  ssh: {
    isShell: true,
    valueFlag: /^-[bcDEeFIiJLlmOopQRSWw]$/,
    operands: "after-first",
    readsInput: true,
  },
  source: { isShell: true, operands: "file" },
  ".": { isShell: true, operands: "file" },
  flock: { isShell: true, programFlag: /^(?:-c|--command)$/, attachedFlag: /^--command=/ },
  tmux: { isShell: true, valueFlag: /^-[stncxyeFLSf]$/, operands: "after-first" },
  screen: { isShell: true, programFlag: /^-X$/ },
};

function named(names: string, reader: Reader): Record<string, Reader> {
  return Object.fromEntries(names.split(" ").map((name) => [name, reader]));
}

/** How a command of this name reads its words; versions like `python3.12` count as `python`. */
export function readerOf(name: string): Reader | undefined {
  const plain = name.replace(/^(python|pypy|perl|ruby|php|lua)[\d.]+$/, "$1");
  return Object.hasOwn(READERS, plain) ? READERS[plain] : undefined;
}

/** Programs that can read, but cannot execute or write. */
export const ONLY_READS: ReadonlySet<string> = new Set(["jq"]);

/** Commands that start the command among their words and pass on their input. */
export const WRAPPERS: ReadonlySet<string> = new Set(
  "sudo doas env nice ionice chrt taskset timeout nohup stdbuf setsid time exec command builtin unbuffer chroot nsenter unshare busybox proxychains proxychains4 torsocks firejail flock strace ltrace coproc docker podman nerdctl kubectl lxc systemd-run xargs parallel find ssh su runuser script watch".split(
    " ",
  ),
);

/** Commands that precede another command, with their options that take the next word. */
export const PREFIXES: Readonly<Record<string, RegExp>> = {
  sudo: /^-[ughpCrtTUDR]$/,
  doas: /^-[uC]$/,
  env: /^(?:-[uC]|--unset|--chdir)$/,
  nice: /^-n$/,
  ionice: /^-[cnp]$/,
  timeout: /^-[ks]$/,
  stdbuf: /^-[ioe]$/,
  xargs: /^-[IJRnPLdaEs]$/,
  ...Object.fromEntries(
    "chrt taskset nohup setsid time exec command builtin unbuffer chroot proxychains proxychains4 torsocks strace coproc busybox"
      .split(" ")
      .map((name) => [name, /^-[uao]$/]),
  ),
};

/** Options of GNU parallel that take the next word. */
export const PARALLEL_VALUES =
  /^(?:-[jPaInNLdCS]|--(?:jobs|arg-file|colsep|delimiter|timeout|delay|retries|results|joblog|tmpdir|max-args|max-replace-args|load|memfree|nice|tagstring|sshlogin))$/;

/** Commands that do not start any of their words. */
export const STARTS_NOTHING: ReadonlySet<string> = new Set(
  "echo printf grep egrep fgrep rg cat ls cp mv rm ln mkdir rmdir touch tee wc sort uniq head tail cut tr which whereis type hash test [ [[ : true false cd pwd apt apt-get apk yum dnf brew pip pip3 npm man export local declare typeset readonly unset read mapfile readarray set shift return exit for select case".split(
    " ",
  ),
);

/** Commands with options, or single words, that start other commands. */
export const OPTIONS_START: ReadonlySet<string> = new Set([
  ...WRAPPERS,
  ..."tar bsdtar rsync scp sftp git zip sort wget make man".split(" "),
]);

/** Variables whose values programs execute, or read as options that do. */
export const EXECUTED_VARIABLES: ReadonlySet<string> = new Set(
  "BASH_ENV ENV PROMPT_COMMAND PS0 PS1 PS2 PS4 PERL5OPT PERL5DB RUBYOPT NODE_OPTIONS PYTHONSTARTUP PYTHONBREAKPOINT LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES GIT_SSH_COMMAND GIT_SSH GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_ASKPASS GIT_PROXY_COMMAND SSH_ASKPASS SUDO_ASKPASS EDITOR VISUAL PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE TAR_OPTIONS RSYNC_RSH CVS_RSH JAVA_TOOL_OPTIONS _JAVA_OPTIONS MAKEFLAGS".split(
    " ",
  ),
);
