import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type TestContext, testContext } from "./test-context.ts";

let context: TestContext;
beforeEach(() => {
  context = testContext();
});
afterEach(() => context.remove());

const put = (path: string, text: string): void => writeFileSync(join(context.cwd, path), text);
const text = (path: string): string => readFileSync(join(context.cwd, path), "utf8");

describe("JSON lines", () => {
  beforeEach(() =>
    put("in", '{"h":"a","p":1,"t":{"v":"x"}}\nbroken\n{"h":"a","p":2}\n\n[1]\n{"h":"a","p":1,"n":null}\n'),
  );

  test.each([
    ["h,p", '{"h":"a","p":1}\n{"h":"a","p":2}\n{"h":"a","p":1}\n'],
    [["h", "t.v"], '{"h":"a","t.v":"x"}\n{"h":"a"}\n{"h":"a"}\n'],
    ["n", "{}\n{}\n{}\n"],
  ])("keep fields %j", (fields, kept) => {
    expect(context.call("jsonl_filter", "in", "out", fields)).toBe(true);
    expect(text("out")).toBe(kept);
    expect(context.logs).toEqual(["warn in: skipped 2 lines that are not JSON objects"]);
  });

  test("are deduplicated by fields", () => {
    expect(context.call("jsonl_unique", "in", "in", "h,p")).toBe(true);
    expect(text("in")).toBe('{"h":"a","p":1,"t":{"v":"x"}}\n{"h":"a","p":2}\n');
    expect(context.call("jsonl_unique", "in", "out", "")).toBe(false);
  });

  test.each([{ h: "host", p: "port" }, "h:host, p=port", '{"h":"host","p":"port"}'])(
    "are renamed by %j",
    (renames) => {
      expect(context.call("jsonl_rename_key", "in", "out", renames)).toBe(true);
      expect(text("out").split("\n")[1]).toBe('{"host":"a","port":2}');
    },
  );

  test("named like prototype members change no object", () => {
    put("in", '{"__proto__":{"polluted":1},"constructor":2,"a":3}\n');
    expect(context.call("jsonl_rename_key", "in", "out", { a: "__proto__" })).toBe(true);
    expect(context.call("jsonl_filter", "in", "out", "__proto__,constructor,toString,a.polluted")).toBe(true);
    expect(text("out")).toBe('{"__proto__":{"polluted":1},"constructor":2}\n');
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});

describe("CSV", () => {
  test("is written from JSON lines, with formulas escaped", async () => {
    const cells = [
      '=HYPERLINK("http://evil")',
      "+cmd|' /C calc'!A0",
      "-2+3",
      "@SUM(A1)",
      "\t=1",
      "\r=1",
      "-5",
      "+3.5",
      'a "b", c',
    ];
    put("in", cells.map((cell) => JSON.stringify({ "=name": cell, n: 1 })).join("\n"));
    expect(await context.prepared("jsonl_to_csv", "in", "out.csv")).toBe(true);
    expect(await context.prepared("csv_to_jsonl", "out.csv", "back")).toBe(true);
    const back = text("back")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, string>);
    expect(back.map((row) => row["'=name"])).toEqual([
      `'=HYPERLINK("http://evil")`,
      "'+cmd|' /C calc'!A0",
      "'-2+3",
      "'@SUM(A1)",
      "'\t=1",
      "'\r=1",
      "-5",
      "+3.5",
      'a "b", c',
    ]);
  });

  test("becomes a table with escaped cells", async () => {
    put("in.csv", 'name,text\na,"x|y\n<b>"\nb\n');
    expect(await context.prepared("convert_csv_to_markdown", "in.csv")).toBe(
      "| name | text |\n| --- | --- |\n| a | x\\|y &lt;b> |\n| b |  |\n",
    );
    expect(await context.prepared("csv_to_jsonl", "nowhere", "out")).toBe(false);
    put("empty", "");
    expect(await context.prepared("csv_to_jsonl", "empty", "out")).toBe(false);
  });
});

const XML = `<?xml version="1.0"?><!DOCTYPE nmaprun><nmaprun><host><address addr="10.0.0.1" addrtype="ipv4"/><address addr="AA:BB" addrtype="mac"/>
<ports><port protocol="tcp" portid="80"><state state="open"/><service name="http" product="nginx &amp; co" version="1.2" method="probed"/></port>
<port protocol="tcp" portid="22"><state state="closed"/><service name="ssh"/></port></ports></host><host><address addr="10.0.0.2" addrtype="ipv4"/></host></nmaprun>`;

describe("nmap's results", () => {
  test("become JSON lines, from XML", async () => {
    put("scan.xml", XML);
    expect(await context.prepared("nmap_to_jsonl", "scan.xml", "out")).toBe(true);
    expect(JSON.parse(text("out"))).toEqual({
      asset_value: "10.0.0.1",
      host_ip: "10.0.0.1",
      asset_type: "ip",
      open_ports: ["80/tcp"],
      ports: {
        "80": {
          protocol: "tcp",
          state: "open",
          service: "http",
          product: "nginx & co",
          version: "1.2",
          service_info: "method=probed",
        },
        "22": {
          protocol: "tcp",
          state: "closed",
          service: "ssh",
          product: "",
          version: "",
          service_info: "",
        },
      },
    });
  });

  test("become JSON lines, from the grepable format", async () => {
    put(
      "scan.gnmap",
      "# x\nHost: 10.0.0.3 (a)\tPorts: 443/open/tcp//https//nginx/, 53/filtered/udp//domain///\tIgnored: 1\n",
    );
    expect(await context.prepared("nmap_to_jsonl", "scan.gnmap", "out")).toBe(true);
    expect(JSON.parse(text("out"))).toMatchObject({
      asset_value: "10.0.0.3",
      open_ports: ["443/tcp", "53/udp"],
      ports: { "443": { service: "https", version: "nginx" } },
    });
  });

  test("with entities, or in another format, are rejected", async () => {
    put(
      "bomb.xml",
      '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><nmaprun><host>&b;</host></nmaprun>',
    );
    put("other.xml", "<html/>");
    expect(await context.prepared("nmap_to_jsonl", "bomb.xml", "out")).toBe(false);
    expect(await context.prepared("nmap_to_jsonl", "other.xml", "out")).toBe(false);
    expect(context.logs).toEqual([
      expect.stringContaining("entities"),
      expect.stringContaining("not XML of nmap"),
    ]);
  });

  test.each([
    ["10.0.0.1; id", "-sV"],
    ["-oN /etc/x", "-sV"],
    ["10.0.0.1", "-oN /etc/passwd"],
    ["10.0.0.1", "--script=evil"],
    ["10.0.0.1", "-sV $(id)"],
    ["10.0.0.1", "-iL /etc/passwd"],
  ])("are not requested with %j %j", async (target, flags) => {
    expect(await context.prepared("run_nmap", target, flags)).toBe("");
    expect(context.logs.at(-1)).toMatch(/target is not valid|are not allowed/);
  });
});

describe("URLs of a file", () => {
  test("are kept if they are distinct", () => {
    put(
      "urls",
      [
        "https://a.example/x?b=1&a=2",
        "https://a.example/x?a=9&b=8",
        "https://a.example/logo.PNG?v=1",
        "https://a.example/app.js",
        "https://a.example/blog/one",
        "https://a.example/news/two",
        "https://b.example/2024/01/02/post",
        `https://a.example/${"y".repeat(101)}`,
        "https://a.example/a-b-c-d-e",
        "not an address",
        "",
      ].join("\n"),
    );
    expect(context.call("interesting_urls", "urls", "out")).toBe(true);
    expect(text("out")).toBe(
      "https://a.example/x?b=1&a=2\nhttps://a.example/app.js\nhttps://a.example/blog/one\nhttps://b.example/2024/01/02/post\n",
    );
    put("json", '{"url":"https://a.example/1a","n":1}\n{"url":"https://a.example/1a"}\nx\n');
    expect(context.call("interesting_urls", "json", "out", "url")).toBe(true);
    expect(text("out")).toBe('{"url":"https://a.example/1a","n":1}\n');
  });

  test("are split into their parts", () => {
    put("urls", "https://a.example/x\nhttp://a.example/y\nhttps://b.example:8443/\nnone\n");
    expect(context.call("parse_url_file", "urls", "%d%:%P", "out")).toBe(true);
    expect(text("out")).toBe("a.example\nb.example:8443\n");
  });
});
