/**
 * What is used of AI SDK, for `import()`: a bundle would contain a whole package that `import()` names, but of this
 * file's only what it exports.
 */
// biome-ignore lint/performance/noBarrelFile: esbuild drops what is not exported here
export { createMistral } from "@ai-sdk/mistral";
export { createOpenAI } from "@ai-sdk/openai";
export {
  convertToModelMessages,
  generateText,
  jsonSchema,
  safeValidateUIMessages,
  streamText,
  tool,
} from "ai";
