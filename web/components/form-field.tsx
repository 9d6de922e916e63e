import { type ReactNode, useId } from "react";
import classes from "./form.module.css";

export interface FieldAttributes {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": true | undefined;
}

interface Props {
  readonly label: string;
  readonly hint?: string | undefined;
  /** What is wrong with the value. */
  readonly problem?: string | undefined;
  readonly children: (attributes: FieldAttributes) => ReactNode;
}

/** A field of a form with its label, a hint and what is wrong with its value. */
export function FormField({ label, hint, problem, children }: Props): ReactNode {
  const id = useId();
  const description = [
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(problem === undefined ? [] : [`${id}-problem`]),
  ].join(" ");
  return (
    <div className={classes.field}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        "aria-describedby": description === "" ? undefined : description,
        "aria-invalid": problem === undefined ? undefined : true,
      })}
      {hint !== undefined && <p id={`${id}-hint`}>{hint}</p>}
      {problem !== undefined && (
        <p id={`${id}-problem`} className={classes.problem} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
