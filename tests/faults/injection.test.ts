import { readdir } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Page, startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";

/** The file that the hostile values create if one of them runs as a command. */
const MARK = "pwned-by-target";
const HOSTILE = [
  `a;to\nuch x; touch ${MARK}`,
  `a;touch ${MARK}`,
  `$(touch ${MARK})`,
  `\`touch ${MARK}\``,
  `'; touch ${MARK}; '`,
  `"; touch ${MARK}; "`,
  `x\ntouch ${MARK}\ny`,
  `x\nEOF\ntouch ${MARK}\ncat <<EOF\ny`,
  `'"'"$(touch ${MARK})"'"'`,
  `a' || touch ${MARK} || 'b`,
  `{{Target}}{{secrets.KEY}}`,
  `[[v]] {{Output}}`,
  `\${IFS}\${PATH}\\$HOME`,
  `* ~ {a,b} ? [a-z]`,
  `-n -e --help`,
  `\\`,
  `a\\"b\\'c\\`,
  `%s%n%x !! #comment`,
  `a\r\nX-Injected: 1\r\n\r\nGET /stolen`,
  `../../../../etc/passwd`,
  `"); exec_cmd("touch ${MARK}"); ("`,
  `\`; exec_cmd("touch ${MARK}"); \``,
  `\${exec_cmd("touch ${MARK}")}`,
  `?a=b&c=d#e/../f@evil.example`,
  `</script>\u2028\u2029ä😀`,
];

let weft: TestServer;
let server: Server;
let requests: { url: string; header: string | undefined; injected: string | undefined; body: string }[] = [];

beforeAll(async () => {
  server = createServer(async (incoming, outgoing) => {
    let body = "";
    for await (const chunk of incoming) body += String(chunk);
    const { "x-target": header, "x-injected": injected } = incoming.headers;
    requests.push({
      url: incoming.url ?? "",
      header: header as string | undefined,
      injected: injected as string | undefined,
      body,
    });
    outgoing.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  weft = await startTestServer({ files: { "secrets.env": "KEY=never-to-be-seen\n" } });
  await weft.storeWorkflow(`name: everywhere
triggers: [{type: event, topic: custom.hostile, input: {target: event_data.target}}]
steps:
  - {name: bare, type: bash, command: "printf %s {{Target}}"}
  - {name: single, type: bash, command: "printf %s '{{Target}}'"}
  - {name: double, type: bash, command: 'printf %s "{{Target}}"'}
  - {name: mixed, type: bash, command: "printf %s a{{Target}}\\"b{{Target}}\\"'c{{Target}}'"}
  - {name: assigned, type: bash, command: 'x={{Target}}; y="{{Target}}"; [ "$x" = "$y" ] && printf %s "$x"'}
  - {name: substituted, type: bash, command: 'printf %s "$(printf %s {{Target}}; printf %s "{{Target}}")"'}
  - name: here-doc
    type: bash
    command: |
      cat <<EOF
      <{{Target}}>
      EOF
  - {name: listed, type: bash, commands: ["printf %s {{Target}} > kept.txt", "cat kept.txt"]}
  - {name: beside, type: bash, parallel_commands: ["printf %s {{Target}}", "printf %s '{{Target}}'"]}
  - {name: code, type: function, function: '[{{Target}}, "{{Target}}", \`{{Target}}\`, Target].every((each) => each === Target) && "{{Target}}"'}
  - {name: single-code, type: function, function: "'{{Target}}' + '' /* {{Target}} */ // {{Target}}"}
  - {name: sent, type: http, method: POST, url: "${url}/p/{{Target}}?q={{Target}}", request_body: "{{Target}}"}
  - {name: headed, type: http, url: "${url}/headed", headers: {X-Target: "{{Target}}"}, on_error: [{action: continue}]}
  - {name: exports, type: bash, command: "true", exports: {plain: "{{Target}}", called: 'trim("{{Target}}")', mixed: "<{{Target}}>"}}
  - {name: later, type: bash, command: "printf '%s|' {{plain}} \\"{{called}}\\" '{{mixed}}'"}
  - {name: asked, type: bash, pre_condition: '"{{Target}}" === Target && {{Target}} === Target', command: "echo asked", log: "about {{Target}}"}
  - {name: each, type: foreach, input: ["{{Target}}"], variable: v, step: {name: item, type: bash, command: "printf %s [[v]]"}}
  - {name: each-code, type: foreach, input: ["{{Target}}"], variable: v, step: {name: item-code, type: function, function: '"[[v]]" === Target && [[v]]'}}
  - {name: acted, type: bash, command: "exit 1", on_error: [{action: run, type: bash, command: "printf %s {{Target}} > acted.txt"}, {action: continue}]}
  - {name: shown, type: bash, command: "cat acted.txt"}
  - {name: where, type: bash, command: "pwd; ls -a"}
`);
});
afterAll(async () => {
  await weft[Symbol.asyncDispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Files in the data folder that only a value executed as a command can have created. */
async function markFiles(): Promise<string[]> {
  const files = (await readdir(weft.dataDir, { recursive: true })).map(String);
  return files.filter((file) => ["x", "such", MARK].includes(basename(file)));
}

describe("a target is never executed, whichever field renders it", () => {
  test.each(HOSTILE)("%j", async (target) => {
    requests = [];
    const run = await weft.run({ module: "everywhere", target });
    const steps = await weft.steps(run.run_id);
    expect([run.error_message, run.status]).toEqual(["", "completed"]);
    expect(run.target).toBe(target);
    const output = (name: string) => steps[name]?.output;
    const text = target.trim();
    const outputs = ["bare", "single", "double", "assigned", "listed", "shown"].map((name) => [
      name,
      output(name),
    ]);
    expect(outputs).toEqual(outputs.map(([name]) => [name, text]));
    expect(output("mixed")).toBe(`a${target}b${target}c${target}`.trim());
    expect(output("substituted")).toBe(`${target}${target}`.trim());
    expect(output("here-doc")).toBe(`<${target}>`);
    expect(output("beside")).toBe(`${text}\n${text}`);
    expect(output("code")).toBe(target);
    expect(output("single-code")).toBe(target);
    expect(output("later")).toBe(`${target}|${text}|<${target}>|`.trim());
    expect(output("asked")).toBe("asked");
    expect(output("each")).toBe(text);
    expect(output("each-code")).toBe(target);
    const [sent, headed] = requests;
    const url = new URL(sent?.url ?? "", "http://h");
    expect(url.searchParams.get("q")).toBe(target);
    expect([...url.searchParams.keys()]).toEqual(["q"]);
    expect(decodeURIComponent(url.pathname.slice("/p/".length))).toBe(target);
    expect(sent).toMatchObject({ body: target, injected: undefined });
    if (/[\r\n]/.test(target)) expect(steps["headed"]?.error_message).toMatch(/line break/);
    else if (/^[\x20-\x7e]*$/.test(target)) expect(headed?.header).toBe(text);
    const [folder, ...files] = output("where")?.split("\n") ?? [];
    expect(folder?.startsWith(`${weft.dataDir}/workspaces/`)).toBe(true);
    expect(folder).toBe(`${weft.dataDir}/workspaces/${run.workspace}`);
    expect(files.sort()).toEqual([".", "..", "acted.txt", "kept.txt"]);
    expect((await weft.call("GET", `/runs/${run.run_id}/steps`)).text).not.toContain("never-to-be-seen");
    expect(await markFiles()).toEqual([]);
  });

  test("a value from an event, a param or a workspace name is never executed", async () => {
    const [target = "", other = ""] = HOSTILE;
    await weft.emit({ topic: "custom.hostile", workspace: `../${other}`, data: { target } });
    const run = await waitUntil("the run", async () => {
      const { data } = await weft.get<Page<{ run_id: string; event_id: string }>>(
        "/runs?workflow=everywhere&limit=1",
      );
      return data[0]?.event_id !== "" && data[0];
    });
    const ended = await weft.waitForRun(run.run_id);
    expect([ended.status, ended.target]).toEqual(["completed", target]);
    expect(ended.workspace).toMatch(/^[A-Za-z0-9][A-Za-z0-9._@+=-]*$/);
    expect(await readdir(`${weft.dataDir}/workspaces/${ended.workspace}`)).toContain("kept.txt");
    await weft.storeWorkflow("name: param\nsteps: [{name: s, type: bash, command: 'printf %s {{word}}'}]");
    const param = await weft.run({ module: "param", params: { word: target, space_name: "../.." } });
    expect((await weft.steps(param.run_id))["s"]?.output).toBe(target);
    expect(param.workspace).not.toContain("/");
    expect(await markFiles()).toEqual([]);
  });

  test.each(HOSTILE.filter((target) => /\p{Cc}/u.test(target)))(
    "rejects %j as a workspace",
    async (target) => {
      const answer = await weft.call("POST", "/events/emit", {
        body: { topic: "custom.hostile", workspace: target, data: { target } },
      });
      expect([answer.status, answer.json]).toEqual([
        400,
        { error: true, message: "workspace: must not contain control characters" },
      ]);
    },
  );

  test("a foreach item and a step's output are never executed", async () => {
    await weft.storeWorkflow(`name: items
steps:
  - {name: make, type: bash, command: "cat > items.txt <<'EOF'\\n$(touch ${MARK})\\na;touch ${MARK}\\nEOF\\ncat items.txt", on_error: [{action: continue}]}
  - {name: loop, type: foreach, input: items.txt, variable: v, step: {name: one, type: bash, command: "printf '%s\\\\n' [[v]] '[[v]]' \\"[[v]]\\"; cat <<EOF\\n[[v]]\\nEOF"}}
  - {name: again, type: bash, command: "printf %s {{make_output}}"}
  - {name: path, type: foreach, input: ["$(touch ${MARK})", "../../x"], variable: v, step: {name: two, type: bash, command: "echo [[_v_]] > out-[[_v_]].txt"}}
`);
    const run = await weft.run({ module: "items", workspace: "items", target: "t" });
    expect([run.error_message, run.status]).toEqual(["", "completed"]);
    const steps = await weft.steps(run.run_id);
    expect(steps["again"]?.output).toContain(`$(touch ${MARK})`);
    expect(await markFiles()).toEqual([]);
  });
});
