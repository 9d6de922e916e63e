import * as z from "zod";
import { CONTROL_CHARACTERS_MESSAGE, hasControlCharacter, hasControlInText } from "./control-characters.ts";

/** A name, topic or label: one line of text that a terminal, a file name or a log can show unchanged. */
export const labelText = z
  .string("must be text")
  .refine((text) => !hasControlCharacter(text), CONTROL_CHARACTERS_MESSAGE);

/** Text of one or more lines without other control characters. */
export const plainText = z
  .string("must be text")
  .refine((text) => !hasControlInText(text), CONTROL_CHARACTERS_MESSAGE);
