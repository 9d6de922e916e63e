import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parseTemplate } from "./parse.ts";
import { renderShell } from "./render-shell.ts";
import { lintShell } from "./shell-lint.ts";
import { ExecutedValueError, TemplateError } from "./template-error.ts";

/** Commands in which `{{v}}` reaches an interpreter. */
const EXECUTED = [
  // Programs on the command line
  'bash -c "echo {{v}}"',
  "bash -c 'echo {{v}}'",
  "bash -c {{v}}",
  "sh -ec 'echo {{v}}'",
  "bash -c -e 'echo {{v}}'",
  "bash -o pipefail -c 'echo {{v}}'",
  "/bin/bash -c 'echo {{v}}'",
  "'bash' -c {{v}}",
  "zsh -c {{v}}; true",
  "dash -c {{v}}",
  "ksh -c {{v}}",
  "busybox sh -c {{v}}",
  "eval {{v}}",
  "eval echo {{v}}",
  "builtin eval {{v}}",
  "command eval {{v}}",
  "trap {{v}} EXIT",
  "trap -- 'echo {{v}}' EXIT",
  "su -c {{v}} user",
  "su user -c 'ls {{v}}'",
  "su - user --command={{v}}",
  "runuser -u user -c {{v}}",
  "script -qc 'ls {{v}}' /dev/null",
  "script -c {{v}}",
  "watch -n 1 ls {{v}}",
  "watch 'ls {{v}}'",
  "env -S 'echo {{v}}'",
  "env -S{{v}}",
  "env --split-string={{v}}",
  "flock /tmp/l -c 'ls {{v}}'",
  "python3 -c 'print({{v}})'",
  "python3.12 -Ic 'print(\"{{v}}\")'",
  "python3 -c{{v}}",
  "perl -e 'print {{v}}'",
  "perl -ne 'print if /{{v}}/' f",
  "perl -pi -e 's/a/{{v}}/' f",
  "ruby -e {{v}}",
  "node -e {{v}}",
  "node --eval={{v}}",
  "node -p {{v}}",
  "php -r {{v}}",
  "lua -e {{v}}",
  "awk '{print \"{{v}}\"}' f",
  'awk "/{{v}}/" f',
  "awk -F, '$1 == \"{{v}}\"' f",
  "gawk -e '{{v}}' f",
  "sed {{v}} f",
  "sed -e {{v}} f",
  "sed --expression={{v}} f",
  "psql -c 'select {{v}}'",
  "mysql -e 'select {{v}}'",
  "sqlite3 db \"select '{{v}}'\"",
  "ssh host ls {{v}}",
  "ssh -p 22 u@host 'ls {{v}}'",
  "ssh u@host bash -c {{v}}",
  "ssh -o ProxyCommand={{v}} host",
  "make TARGET={{v}}",
  "tmux new-session -d 'run {{v}}'",
  "mapfile -C {{v}} -c 1 a < f",
  "mapfile -C 'eval' -c 1 a <<< {{v}}",
  "parallel echo {{v}} ::: a b",
  "echo {{v}} | parallel",
  "parallel bash -c {} ::: {{v}}",
  // After other commands
  "sudo bash -c {{v}}",
  "env X=1 bash -c {{v}}",
  "timeout -k 1m 5 sh -c 'echo {{v}}'",
  "nohup nice -n 5 stdbuf -oL setsid bash -c {{v}} &",
  "exec bash -c {{v}}",
  "command bash -c {{v}}",
  "time bash -c {{v}}",
  "! bash -c {{v}}",
  "coproc bash -c {{v}}",
  "find . -name x -exec sh -c 'echo {{v}}' \\;",
  "ls | xargs -I % sh -c 'echo % {{v}}'",
  "docker exec c sh -c 'echo {{v}}'",
  "mywrapper bash -c {{v}}",
  "if bash -c {{v}}; then :; fi",
  "for i in 1; do bash -c {{v}}; done",
  "x=$(bash -c 'echo {{v}}')",
  "x=`bash -c {{v}}`",
  "f() { bash -c {{v}}; }; f",
  "cat <(bash -c {{v}})",
  'x="$(bash -lc "{{v}}")"',
  // Through standard input
  "echo {{v}} | bash",
  "echo {{v}} | sh -s",
  "echo {{v}} | bash -s -- a b",
  "echo {{v}} | bash /dev/stdin",
  "echo {{v}} | bash -",
  "echo {{v}} | sudo bash",
  "echo {{v}} | bash --rcfile f",
  "echo {{v}} | tr a b | bash",
  "echo {{v}} |& bash",
  "echo {{v}} |\n  bash",
  "printf '%s' {{v}} | base64 -d | sh",
  "echo {{v}} | tee f | bash",
  "echo {{v}} | tee >(bash)",
  "{ echo {{v}}; } | bash",
  "(echo {{v}}) | bash",
  "for i in 1; do echo {{v}}; done | bash",
  "f() { echo {{v}}; }; f | bash",
  "echo {{v}} | { cat; bash; }",
  "echo {{v}} | (bash)",
  "echo {{v}} | if true; then bash; fi",
  "echo {{v}} | f() { bash; }; g() { bash; }; echo {{v}} | g",
  "echo {{v}} | python3",
  "echo {{v}} | python3 -",
  "echo {{v}} | perl",
  "echo {{v}} | node",
  "echo {{v}} | ssh host",
  "echo {{v}} | ssh host bash",
  "echo {{v}} | su user",
  "echo {{v}} | at now",
  "echo {{v}} | crontab -",
  "echo {{v}} | sqlite3 db",
  "echo {{v}} | awk -f - f",
  "echo {{v}} | awk '{system($0)}'",
  "echo {{v}} | sed 's/^/x/e'",
  "echo {{v}} | xargs bash -c",
  "echo {{v}} | xargs sh",
  "echo {{v}} | xargs ssh host",
  "echo {{v}} | xargs -I{} sh -c 'echo {}'",
  "echo {{v}} | xargs -i sh -c 'echo {}'",
  "echo {{v}} | xargs sudo",
  "bash <<< {{v}}",
  "bash <<< 'echo {{v}}'",
  "sh 0<<< {{v}}",
  "bash < <(echo {{v}})",
  "bash <(echo {{v}})",
  "source <(echo {{v}})",
  ". <(echo {{v}})",
  "source /dev/stdin <<< {{v}}",
  "bash <<EOT\necho {{v}}\nEOT",
  "bash <<'EOT'\necho {{v}}\nEOT",
  "bash -s a <<EOT\n{{v}}\nEOT",
  "python3 <<'EOT'\nprint('{{v}}')\nEOT",
  "python3 - <<'EOT' arg\nprint('{{v}}')\nEOT",
  "cat <<EOT | bash\n{{v}}\nEOT",
  "ssh host <<EOT\nls {{v}}\nEOT",
  'while read l; do bash -c "$l"; done <<< {{v}}',
  'echo {{v}} | while read l; do eval "$l"; done',
  // Through variables
  'x={{v}}; eval "echo $x"',
  "x={{v}}; eval $x",
  'x={{v}}; bash -c "echo $x"',
  'x={{v}}; bash -c "echo ${x:-a}"',
  "x={{v}}; $x",
  "x={{v}}; y=$x; eval $y",
  "x=$(echo {{v}}); eval $x",
  "export x={{v}}; bash -c 'eval \"$x\"'",
  'x={{v}}; echo "$x" | bash',
  'x={{v}}; bash <<< "$x"',
  "x={{v}}; bash <<E\necho $x\nE",
  'x={{v}}; trap "rm $x" EXIT',
  'x={{v}}; ssh host "ls $x"',
  'x={{v}}; sed "s/a/$x/" f',
  'x={{v}}; awk "/$x/" f',
  "x={{v}}; bash $x",
  "for x in {{v}}; do eval $x; done",
  "read x <<< {{v}}; eval $x",
  "printf -v x %s {{v}}; eval $x",
  "declare x={{v}}; eval $x",
  'set -- {{v}}; eval "$1"',
  'f() { eval "$1"; }; f {{v}}',
  'f() { bash -c "$*"; }; f {{v}}',
  "bash -c 'eval \"$1\"' _ {{v}}",
  "bash -c 'bash -c \"$1\"' _ {{v}}",
  "echo {{v}} | xargs bash -c 'eval \"$0\"'",
  "echo {{v}} | bash -c bash",
  'a=(x {{v}}); eval "${a[@]}"',
  "$(echo {{v}})",
  "{{v | split}}",
  "env $(echo {{v}})",
  "sudo -u root {{v | split}}",
  "timeout 5 {{v | split}}",
  "bash -c $program {{v}}",
  "bash -s $(echo {{v}})",
  "x={{v}}; bash -es $x",
  "echo {{v}} | bash -ex",
  "echo {{v}} | bash -es a",
  "x={{v}}; nice -n 5 $x",
  "sudo $(echo {{v}}); bash $(echo {{v}})",
  "x={{v}}; echo ${!x}",
  "env | bash; echo {{v}}",
  "printenv W1 | sh; echo {{v}}",
  'eval "$(export -p)"; echo {{v}}',
  "declare -p | bash -s {{v}}",
  // Variables that programs execute
  "BASH_ENV={{v}} bash script.sh",
  "export BASH_ENV={{v}}",
  "env BASH_ENV={{v}} bash script.sh",
  "PROMPT_COMMAND={{v}}",
  "PS4={{v}}; set -x; :",
  "ENV={{v}} sh",
  "GIT_SSH_COMMAND={{v}} git fetch",
  "LD_PRELOAD={{v}} ls",
  // Quoted for a shell, but not in a position where that shell reads it as one word
  "bash -c \"echo '{{v | shell}}'\"",
  "bash -c \"bash -c 'echo {{v | shell}}'\"",
  "python3 -c {{v | shell}}",
  'bash -c "echo $(( {{v | shell}} ))"',
];

/** Valid commands in which `{{v}}` is data. */
const DATA = [
  "bash script.sh {{v}}",
  "bash -x script.sh '{{v}}'",
  "python3 x.py {{v}}",
  "python3 -u x.py --target {{v}}",
  "python3 -m http.server {{v}}",
  "node app.js {{v}}",
  "node --max-old-space-size={{v}} app.js",
  "perl x.pl {{v}}",
  "echo {{v}} | grep x",
  "echo '{{v}}' | timeout -k 1m 5 tool -o {{v}} >/dev/null 2>&1",
  "cat {{v}} | jq -r '.a[]' | sort -u >> {{v}}",
  "cat {{v}} | awk '{print $3}' | sed 's/a/b/g' | sort",
  "awk -v x={{v}} '{print x}' {{v}}",
  "awk -F, '{print $1}' \"{{v}}/f\"",
  "jq --arg x {{v}} '.[$x]' {{v}}",
  "grep -E 'x|y' {{v}} | python3 -c 'import sys; print(sys.stdin.read())'",
  "bash -c 'echo \"$1\"' _ {{v}}",
  "bash -c 'echo \"$0\"' {{v}}",
  "find {{v}} -name '*.txt' -exec cat {} \\;",
  'find . -exec sh -c \'echo "$1" "$2"\' _ {} {{v}} \\;',
  "echo {{v}} | xargs -n1 echo",
  "echo {{v}} | xargs bash -c 'echo \"$@\"' _",
  "echo {{v}} | xargs -I{} echo x{}y",
  "echo {{v}} | parallel echo {}",
  "parallel echo ::: {{v}} b",
  "cat {{v}} | parallel -j {{v}} 'curl -s {} > /dev/null'",
  "echo {{v}} | python3 -m json.tool",
  'cat {{v}} | while read -r l; do echo "$l" >> {{v}}; done',
  'while read -r l; do curl "$l"; done < {{v}}',
  'for i in {{v | split}}; do echo "$i"; done',
  'x={{v}}; echo "$x" > f; bash -c \'echo "$x"\'',
  "x={{v}}; trap 'rm -f \"$x\"' EXIT",
  'tmp=$(mktemp); trap "rm -f $tmp" EXIT; echo {{v}} > $tmp',
  "n=$(wc -l < {{v}}); if [[ $n -gt 0 ]]; then echo $((n + 1)); fi",
  "[[ $(wc -l < {{v}}) -gt 2 ]] && echo $(( $(wc -l < '{{v}}') + 1 ))",
  "n=$(grep -c x {{v}}); (( n > 2 )) && echo many",
  "cat > {{v}}/report.md << EOF\n# {{v}}\n$(date) $(wc -l < {{v}})\nEOF",
  "cat > f <<'EOF'\nbash -c {{v}}\nEOF",
  "cat <<'EOF' > f.py\nprint('{{v}}')\nEOF",
  "sed -i 's/x/{{v}}/g' f",
  'sed "s|x|{{v}}|" f',
  "sed -n '/{{v}}/p' f",
  "sed -n '{{v}}p' f",
  "sed 's/a/b/' {{v}}",
  "ssh u@{{v}} uptime",
  "ssh -i {{v}} host 'ls -l'",
  "scp f {{v}}:/tmp",
  "docker run --rm -v {{v}}:/data image scan {{v}}",
  "sudo tool -t {{v}}",
  "sudo -n nmap {{v | split}}",
  "timeout -k 1m 5 tool {{v | split}}",
  "timeout {{v}} tool",
  "env X={{v}} tool {{v}}",
  "PATH={{v}}:$PATH tool",
  "{{v}}/bin/tool -x",
  "{{v}} -silent",
  "curl -s {{v}} | grep -c bash",
  "echo run bash -c {{v}}",
  "which python3 {{v}}",
  "case {{v}} in bash) echo 1;; *) echo 2;; esac",
  "declare -A seen; x={{v}}; seen[$x]=1",
  "git clone --depth=1 {{v}} repo",
  "tar -czf {{v}}/a.tgz -C {{v}} reports",
  "make -C {{v}} all",
  'bash -c "echo {{v | shell}}"',
  'ssh host "ls {{v | shell}}"',
  "bash <<E\necho {{v | shell}}\nE",
  "python3 - \"{{v}}\" <<'EOF'\nimport sys\nEOF",
  "# bash -c {{v}}\necho {{v}} # | bash",
  "bash -c 'ls'; echo {{v}}",
  'eval "$(ssh-agent -s)"; ssh-add {{v}}',
  "bash script.sh < {{v}}",
  "set -e; export X={{v}}; env | grep X",
  "env X=1 tool {{v}} | bash run.sh",
  "rm -rf {{v}}/x 2>/dev/null || true",
  "echo {{v}} && bash run.sh",
  "bash 2>/dev/null run.sh {{v}}",
];

const offences = (source: string, values: Record<string, unknown>): unknown => {
  try {
    renderShell(source, values);
    return undefined;
  } catch (error) {
    return error;
  }
};

describe("a value that reaches an interpreter", () => {
  it.each(EXECUTED)("is rejected at validation and at run time: %j", (source) => {
    expect(lintShell(source).errors.length).toBeGreaterThan(0);
    expect(offences(source, { v: "1" })).toBeInstanceOf(ExecutedValueError);
  });

  it.each(EXECUTED)("is also rejected as an item of a loop: %j", (source) => {
    const inLoop = parseTemplate(source.replaceAll("{{v}}", "[[v]]"), { loopVariables: ["v"] });
    expect(lintShell(inLoop).errors.length).toBeGreaterThan(0);
  });

  it.each(EXECUTED.filter((source) => !source.includes("|")))("is accepted with | raw: %j", (source) => {
    const raw = source.replaceAll("{{v}}", "{{v | raw}}");
    expect(lintShell(raw).errors).toEqual([]);
    expect(renderShell(raw, { v: "1" }).env).toEqual({});
  });

  it("is accepted if it is text of the workflow file", () => {
    const own = new Map([
      ["own", "x"],
      ["tool", "bash"],
    ]);
    expect(lintShell('bash -c "echo {{own}}"', own).errors).toEqual([]);
    expect(lintShell("{{tool}} -c {{v}}", own).errors).toHaveLength(1);
    expect(lintShell('bash -c "{{own}} {{v}}"', own).errors).toEqual([
      { message: expect.stringMatching(/^bash reads this value as part of a program/), offset: 17 },
    ]);
  });
});

describe("a value that is data for an interpreter", () => {
  it.each(DATA)("is accepted: %j", (source) => {
    expect(lintShell(source).errors).toEqual([]);
    expect(offences(source, { v: "1" })).toBeUndefined();
  });

  it.each([
    ["python3 {{v}}", "-cimport os"],
    ["sed 's/a/b/' {{v}}", "-e1e touch pwned"],
    ["ssh {{v}} ls", "-oProxyCommand=touch pwned"],
    ["tar -xf {{v}}", "--to-command=touch pwned"],
    ["find {{v | split}}", ". -exec touch pwned ;"],
    ["env {{v}} ls", "-Stouch pwned"],
    ["xargs {{v}} < f", "-Itouch"],
  ])("is rejected by its text where it would be an option: %j", (source, v) => {
    expect(offences(source, { v: "plain" })).toBeUndefined();
    expect(offences(source, { v })).toBeInstanceOf(TemplateError);
    expect(offences(source.replace("{{", "-- {{"), { v: "x" })).toBeUndefined();
  });

  it.each([
    ["sed 's/a/{{v}}/' f", "x/e;s/.*/touch pwned"],
    ["sed 's/a/{{v}}/' f", "touch pwned/e"],
    ["sed 's|a|{{v}}|' f", "x|e"],
    ["sed 's:a:{{v}}:' f", "x:e"],
    ["sed -n '/{{v}}/p' f", "x/e"],
    ["sed -n '{{v}}p' f", "1e touch pwned"],
    ["sed 's/a/b/{{v}}' f", "e"],
    ["sed 's/a/{{v}}/' f", "x\n1e touch pwned"],
    ["n={{v}}; echo $((n + 1))", "a[$(touch pwned)]"],
    ["n={{v}}; [[ $n -gt 1 ]]", "a[$(touch pwned)]"],
    ["n={{v}}; echo ${a[$n]}", "$(touch pwned)"],
    ["n={{v}}; let m=n", "a[$(touch pwned)]"],
    ["read n <<< {{v}}; ((n++))", "a[$(touch pwned)]"],
    ["declare -i n; n={{v}}", "a[$(touch pwned)]"],
    ['for n in {{v}}; do test -v "$n"; done', "a[$(touch pwned)]"],
    ["n={{v}}; unset $n", "a[$(touch pwned)]"],
    ['n={{v}}; read "$n" <<< 1', "a[$(touch pwned)]"],
    ['n={{v}}; declare "$n=1"', "a[$(touch pwned)]"],
    ["let $(echo {{v}})", "a[$(touch pwned)]"],
    ["echo $(( $(echo {{v}}) + 1 ))", "a[$(touch pwned)]"],
    ["[[ $(echo {{v}}) -eq 1 ]]", "a[$(touch pwned)]"],
    ["echo ${a[$(echo {{v}})]}", "$(touch pwned)"],
    ["a[$(echo {{v}})]=1", "$(touch pwned)"],
    ["declare -i n=$(echo {{v}})", "a[$(touch pwned)]"],
    ["n=$(echo {{v}}); echo $((n))", "a[$(touch pwned)]"],
  ])("is rejected by its text where it would be syntax: %j", (source, v) => {
    expect(offences(source, { v: "1" })).toBeUndefined();
    expect(offences(source, { v })).toBeInstanceOf(TemplateError);
  });
});

describe("a value in any command", () => {
  let folder: string;
  let bin: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "weft-execution-"));
    bin = mkdtempSync(join(tmpdir(), "weft-bin-"));
    const pwn = join(bin, "pwn");
    writeFileSync(pwn, `#!/bin/sh\n: > ${join(folder, "pwned")}\n`);
    chmodSync(pwn, 0o755);
  });
  beforeEach(() => {
    writeFileSync(join(folder, "f"), "a\nb\nx\n");
    writeFileSync(join(folder, "script.sh"), 'echo "$@"\n');
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
    rmSync(bin, { recursive: true, force: true });
  });

  const PAYLOADS = [
    "$(pwn)",
    "`pwn`",
    "; pwn;",
    "';pwn;'",
    '";pwn;"',
    "|pwn",
    "\npwn\n",
    "a[$(pwn)]",
    "-e1e pwn",
    "x/e;1e pwn",
    "')\nimport os; os.system('pwn')#",
    '"; system("pwn"); "',
    "-c pwn",
    "E\npwn\n",
    "EOF\npwn",
    "} ; pwn; {",
    "\\$(pwn)",
    "'$(pwn)'",
    "&& pwn",
    "${x:-$(pwn)}",
    "@x pwn",
  ];
  const payload = fc.oneof(
    fc.constantFrom(...PAYLOADS),
    fc
      .array(fc.constantFrom(...PAYLOADS, "'", '"', "\\", " ", "\n", ")", "}", "e", "/"), { maxLength: 4 })
      .map((parts) => parts.join("")),
  );

  /** Parts of generated commands; the harmless stand-ins behave like the real programs. */
  const word = fc.constantFrom(
    "{{v}}",
    '"{{v}}"',
    "'{{v}}'",
    "a{{v}}b",
    "'x {{v}} y'",
    '"$x"',
    "$x",
    "literal",
    '"$1"',
    "$(echo {{v}})",
    '"$(echo $x)"',
  );
  const program = fc.constantFrom(
    "echo",
    "printf '%s'",
    "cat",
    "eval",
    "bash",
    "bash -c",
    "sh -c",
    "bash script.sh",
    "bash -s",
    "xargs bash -c",
    "xargs echo",
    "xargs sh -c 'echo \"$0\"'",
    "trap",
    "sed",
    "sed -n",
    "sed -e",
    "awk",
    "awk -v",
    "env",
    "env -S",
    "python3 -c",
    "python3 -",
    "source",
    "test -v",
    "[[ -v",
    "let",
    "export",
    "declare -i",
    "set --",
    "timeout 5",
    "nice",
    "command",
    "builtin",
    "exec",
    "bash -c 'echo \"$1\"' _",
    "bash -c 'eval \"$1\"' _",
    "bash -c 'bash' _",
    "time",
    "read",
  );
  const simple = fc
    .tuple(
      program,
      fc.array(word, { minLength: 0, maxLength: 3 }),
      fc.constantFrom(
        "",
        " <<< {{v}}",
        ' <<< "$x"',
        " < <(echo {{v}})",
        " 2>/dev/null",
        " <<E\n{{v}} $x\nE",
        " <<'E'\n{{v}} $x\nE",
      ),
    )
    .map(([name, words, redirection]) => ({
      text: [name, ...words].join(" ") + (name.startsWith("[[") ? " ]]" : ""),
      redirection,
    }));
  const joined = fc
    .array(fc.tuple(simple, fc.constantFrom("; ", " | ", " && ", "\n", " |& ")), {
      minLength: 1,
      maxLength: 3,
    })
    .map((parts) => {
      let heredocs = "";
      let text = "";
      for (const [{ text: one, redirection }, separator] of parts) {
        const [same = "", ...body] = redirection.split("\n");
        text += one + same;
        if (body.length > 0) heredocs = `\n${body.join("\n")}\n`;
        if (body.length > 0) return text + heredocs;
        text += separator;
      }
      return `${text.replace(/(?:; | \|&? | && |\n)$/, "")}\n`;
    });
  const command = fc
    .tuple(
      fc.constantFrom(
        "",
        "x={{v}}; ",
        "read x <<< {{v}}; ",
        "x=$(echo {{v}}); ",
        "set -- {{v}}; ",
        "export x={{v}}; ",
      ),
      joined,
      fc.constantFrom("", "for", "function", "group", "subshell", "substitution"),
    )
    .map(([before, text, around]) => {
      if (around === "for") return `for x in {{v}}; do ${text} done`;
      if (around === "function") return `f() { ${text} }; f {{v}}`;
      if (around === "group") return `${before}{ ${text} } | bash -c 'cat'`;
      if (around === "subshell") return `${before}echo {{v}} | ( ${text} )`;
      if (around === "substitution") return `${before}y=$( ${text} )`;
      return before + text;
    });

  it("is either rejected or never executed", () => {
    let rendered = 0;
    fc.assert(
      fc.property(command, payload, (source, v) => {
        let shell: ReturnType<typeof renderShell>;
        try {
          shell = renderShell(source, { v });
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
          return;
        }
        rendered += 1;
        spawnSync("bash", ["-c", shell.script], {
          cwd: folder,
          env: { PATH: `${bin}:${process.env.PATH ?? ""}`, LC_ALL: "C.UTF-8", ...shell.env },
          stdio: ["ignore", "ignore", "ignore"],
          timeout: 10_000,
        });
        const files = readdirSync(folder);
        rmSync(join(folder, "pwned"), { force: true });
        expect(files).not.toContain("pwned");
      }),
      { numRuns: RUNS, ...(process.env.EXECUTION_RUNS === undefined && { seed: 1 }) },
    );
    expect(rendered).toBeGreaterThan(RUNS / 10);
  }, 120_000);
});

/** Generates the same commands on each run; EXECUTION_RUNS sets a number of random ones. */
const RUNS = Number(process.env.EXECUTION_RUNS ?? 300);
