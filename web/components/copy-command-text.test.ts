import { expect, it } from "vitest";
import { curlCommand, weftCommand } from "./copy-command-text.ts";

const ORIGIN = "http://127.0.0.1:3000";
const TOKEN = `-H "Authorization: Bearer $(npx weft token)"`;

it("reads with curl, without empty parameters", () => {
  const query = { status: "failed", workflow: "", search: undefined, target: "a b&c", limit: 5 };
  expect(curlCommand({ path: "/automation/runs", query }, ORIGIN)).toBe(
    `curl -s '${ORIGIN}/automation/runs?status=failed&target=a+b%26c&limit=5' ${TOKEN}`,
  );
  expect(curlCommand({ path: "/automation/runs" }, ORIGIN)).toBe(
    `curl -s ${ORIGIN}/automation/runs ${TOKEN}`,
  );
});

it("writes with curl; the shell interprets nothing of the body", () => {
  const body = { target: "it's $(id) `id`" };
  expect(curlCommand({ method: "POST", path: "/automation/runs", body }, ORIGIN)).toBe(
    `curl -s ${ORIGIN}/automation/runs ${TOKEN} -H 'content-type: application/json' -d '{"target":"it'\\''s $(id) \`id\`"}'`,
  );
  expect(curlCommand({ method: "DELETE", path: "/automation/runs/1" }, ORIGIN)).toContain(
    "curl -s -X DELETE",
  );
});

it("quotes the arguments of weft, and leaves out undefined ones", () => {
  expect(weftCommand(["runs", "--target", "a; rm -rf '", undefined, "-p", "depth=2", ""])).toBe(
    "npx weft runs --target 'a; rm -rf '\\''' -p depth=2 ''",
  );
});
