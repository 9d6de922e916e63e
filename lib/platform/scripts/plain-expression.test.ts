import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPlainExpression } from "./plain-expression.ts";

const VARIABLES = { a: 1, b: "x", list: [1, { deep: true }], $0: "v", delete: 1, of: 2 };

test.each([
  "1 + 1",
  "a > 2 && b == 'x'",
  "!(a - -1 >= 2.5) || list[1].deep",
  "list?.length === 2 ? 'yes' : \"no\"",
  "typeof a !== 'undefined'",
  "[a, b, -a][0] + ~a % 2",
  "'deep' in list[1]",
  "b.constructor.prototype",
  "$0 ?? null",
  "a.delete + a.function",
  "'a;b(){}=`' + b",
])("%s is plain", (code) => expect(isPlainExpression(code, VARIABLES)).toBe(true));

test.each([
  "",
  "f()",
  "b.repeat(9)",
  "list.map (a)",
  "(a)(b)",
  "a?.(b)",
  "a`x`",
  "new Date",
  "a = 2",
  "a += 2",
  "a >>= 2",
  "a <<= 2",
  "a++",
  "a--",
  "--a",
  "a + ++a",
  "delete a.b",
  "() => 1",
  "a => a",
  "function f() {}",
  "{ a }",
  "a; b",
  "a b",
  "a\nb",
  "`${a}`",
  "/x/.test",
  "a / b / /x/",
  "a /* c */ + b",
  "a // c",
  "a <!--b",
  "a\n-->b",
  "2 ** 9",
  "9n",
  "1e9",
  "nobody",
  "globalThis",
  "this",
  "of",
  "await a",
  "a instanceof b",
  "a.",
  "a +",
  "\u0061lert",
  "\\u0061",
  "'x",
  `a${" + a".repeat(60)}`,
])("%s is not", (code) => expect(isPlainExpression(code, VARIABLES)).toBe(false));

describe("an accepted expression", () => {
  const pieces = fc.constantFrom(
    ..."a b 1 'x' + - * / % ! ~ < > = == === ( ) [ ] { } . ?. ? : , ; & | ^ && || ?? in of typeof new ` \\ n \n".split(
      " ",
    ),
    " ",
    "\n",
    "=>",
    "f",
  );

  test("changes nothing, calls nothing and reads nothing but its variables", () => {
    fc.assert(
      fc.property(fc.array(pieces, { minLength: 1, maxLength: 12 }), (parts) => {
        const code = parts.join("");
        if (!isPlainExpression(code, { a: 1, b: "x" })) return;
        const touched: string[] = [];
        const note = (what: string) => (): never => {
          touched.push(what);
          throw new Error(what);
        };
        const scope = new Proxy(
          { a: 1, b: "x" },
          {
            has: (_, name) => typeof name === "string" && !/^(?:undefined|NaN|Infinity|eval)$/.test(name),
            get: (target, name) =>
              name === Symbol.unscopables
                ? undefined
                : name in target
                  ? target[name as "a"]
                  : note(String(name))(),
            set: note("set"),
            deleteProperty: note("delete"),
            defineProperty: note("define"),
          },
        );
        try {
          Function("scope", `with (scope) { return (${code}) }`)(scope);
        } catch {
          // A syntax or type error is the same in every evaluator.
        }
        expect(touched).toEqual([]);
      }),
      { numRuns: 20_000 },
    );
  });
});
