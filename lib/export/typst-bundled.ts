import { createRequire } from "node:module";
import type * as Typst from "@myriaddreamin/typst-ts-node-compiler";

/** The package in the bundle of the renderer function: the native library is beside it (infra/template/bundling.ts). */
export const { NodeCompiler } = createRequire(import.meta.url)(
  "./typst-ts-node-compiler.linux-x64-gnu.node",
) as typeof Typst;
