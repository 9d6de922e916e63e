/** Content that cannot be converted, or exceeds a limit. The message is a sentence that can be shown to users. */
export class ContentError extends Error {}
