/** A template that cannot be parsed, or a value that is not allowed at its position. */
export class TemplateError extends Error {
  /** Offset in the template's text, in UTF-16 units from 0. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.name = "TemplateError";
    this.offset = offset;
  }
}

/** A value that would be executed because an interpreter reads it as part of a program. */
export class ExecutedValueError extends TemplateError {}

/** An operation that its operands do not allow, such as a division by zero. */
export class OperationError extends TemplateError {}
