import type { ComponentProps, ReactNode } from "react";
import classes from "./icon-button.module.css";

interface Props extends Omit<ComponentProps<"button">, "className"> {
  /** 28, 34 or 44 px. */
  readonly size?: "md" | "lg" | "xl" | undefined;
  /** What it does. */
  readonly "aria-label": string;
  /** Whether the action is in progress: nothing happens until it is finished. */
  readonly loading?: boolean | undefined;
}

/** A button with only a symbol. */
export const IconButton = ({ size = "md", loading = false, onClick, ...others }: Props): ReactNode => (
  <button
    type="button"
    {...others}
    className={classes.button}
    data-size={size}
    aria-disabled={loading || undefined}
    onClick={loading ? undefined : onClick}
  />
);
