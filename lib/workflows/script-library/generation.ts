import { randomInt, randomUUID } from "node:crypto";
import { numberOf, textOf } from "./argument-values.ts";
import type { LibraryFunction } from "./library-types.ts";

const ALPHANUMERICS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const LONGEST_RANDOM = 10_000;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

export const generationFunctions = {
  uuid: {
    group: "generation",
    params: [],
    returns: "string",
    summary: "A random UUID (version 4)",
    run: () => randomUUID(),
  },
  random_string: {
    group: "generation",
    params: ["length?"],
    returns: "string",
    summary: `A number of random letters and digits, 16 by default and at most ${LONGEST_RANDOM}`,
    run: ([length]) => {
      const count = Math.min(Math.max(0, Math.trunc(numberOf(length, 16))), LONGEST_RANDOM);
      return Array.from({ length: count }, () => ALPHANUMERICS[randomInt(ALPHANUMERICS.length)]).join("");
    },
  },
  base64_encode: {
    group: "encoding",
    params: ["text"],
    returns: "string",
    summary: "The text (UTF-8) in base64",
    run: ([text]) => Buffer.from(textOf(text), "utf8").toString("base64"),
  },
  base64_decode: {
    group: "encoding",
    params: ["text"],
    returns: "string",
    summary: "The decoded text (UTF-8); empty if it is not base64",
    failure: "",
    run: ([text]) => {
      const encoded = textOf(text).replaceAll(/\s/g, "");
      if (!BASE64.test(encoded)) throw new Error("the text is not base64");
      return Buffer.from(encoded, "base64").toString("utf8");
    },
  },
} satisfies Record<string, LibraryFunction>;
