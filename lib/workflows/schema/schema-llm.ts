import * as z from "zod";
import { COMMANDS_PER_STEP } from "./limits.ts";
import { expected, filledList, filledText, list } from "./schema-values.ts";

/** The parts of an llm step. They are sent to the model as written, so unknown keys are kept. Seed: workflow 2.7. */

const ROLES = ["system", "user", "assistant", "tool"] as const;
const looseMap = z.record(z.string(), z.unknown(), expected("a map"));

const part = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("text"), text: z.string(expected("text")) }),
    z.looseObject({
      type: z.literal("image_url"),
      image_url: z.looseObject({ url: z.string(expected("a URL")).min(1) }, expected("a map with url")),
    }),
  ],
  { error: "a part of a message is {type: text, text} or {type: image_url, image_url: {url}}" },
);

const message = z
  .looseObject(
    {
      role: z.enum(ROLES, expected(`one of ${ROLES.join(", ")}`)),
      content: z
        .union([z.string(), filledList(part, COMMANDS_PER_STEP), z.null()], {
          error:
            "must be text or a list of parts ({type: text, text} or {type: image_url, image_url: {url}})",
        })
        .exactOptional(),
      tool_calls: list(looseMap, COMMANDS_PER_STEP).exactOptional(),
    },
    expected("a message: {role, content}"),
  )
  .refine((value) => (value.content ?? undefined) !== undefined || value.tool_calls !== undefined, {
    error: "is required",
    path: ["content"],
  });

export const messages = filledList(message, COMMANDS_PER_STEP);
export const embeddingInput = filledList(filledText, COMMANDS_PER_STEP);
export const toolChoice = z.union([filledText, looseMap], expected("text or a map"));

export const tools = list(
  z.looseObject(
    {
      type: z.literal("function", expected("function")),
      function: z.looseObject(
        {
          name: z.string(expected("text")).min(1, { error: "must not be empty" }),
          description: z.string(expected("text")).exactOptional(),
          parameters: looseMap.exactOptional(),
        },
        expected("a map with name, description and parameters"),
      ),
    },
    expected("a tool: {type: function, function: {name, …}}"),
  ),
  COMMANDS_PER_STEP,
);
