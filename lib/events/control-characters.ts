const CONTROL_CHARACTER = /\p{Cc}/u;
/** Control characters other than tabs and line breaks. */
const CONTROL_IN_TEXT = /(?![\t\n\r])\p{Cc}/u;

export const CONTROL_CHARACTERS_MESSAGE = "must not contain control characters";

/** Whether a name, topic or label contains a control character, which terminals, file names and logs cannot show. */
export const hasControlCharacter = (label: string): boolean => CONTROL_CHARACTER.test(label);

/** Whether a text of one or more lines contains a control character other than tabs and line breaks. */
export const hasControlInText = (text: string): boolean => CONTROL_IN_TEXT.test(text);

const EVENT_LABELS = [
  "topic",
  "name",
  "source",
  "data_type",
  "workspace",
  "run_id",
  "workflow_name",
] as const;
type EventLabels = { readonly [Name in (typeof EVENT_LABELS)[number]]?: string };

/** The first label of an event that is invalid, with the reason; undefined if all are valid. */
export function findLabelIssue(event: EventLabels): string | undefined {
  const field = EVENT_LABELS.find((name) => hasControlCharacter(event[name] ?? ""));
  return field === undefined ? undefined : `${field}: ${CONTROL_CHARACTERS_MESSAGE}`;
}
