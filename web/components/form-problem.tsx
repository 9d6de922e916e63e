import type { ReactNode } from "react";
import { useTranslation } from "../i18n/use-translation.ts";
import { messageOf } from "./error-state.tsx";
import classes from "./form.module.css";

/** Why the request of a form failed; nothing unless it did. */
export function FormProblem({ error }: { readonly error: Error | null }): ReactNode {
  const { t } = useTranslation();
  if (error === null) return null;
  return (
    <p className={classes.problem} role="alert">
      {messageOf(error, t)}
    </p>
  );
}
