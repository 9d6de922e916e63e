import type { ComponentProps, MouseEvent, ReactNode } from "react";
import { Link } from "wouter";
import classes from "./button.module.css";

interface Looks {
  /** `filled` is for the primary action. */
  readonly variant?: "filled" | "default" | "subtle" | undefined;
  readonly size?: "md" | "compact-sm" | undefined;
  readonly leftSection?: ReactNode;
}

const looksOf = ({ variant = "filled", size = "md" }: Looks) => ({
  className: classes.button,
  "data-variant": variant,
  "data-size": size,
});

interface ButtonProps extends Looks, Omit<ComponentProps<"button">, "className"> {
  /** Whether the action is in progress. The button keeps the focus, and does nothing until it is finished. */
  readonly loading?: boolean | undefined;
}

export function Button({
  variant,
  size,
  leftSection,
  loading = false,
  children,
  onClick,
  ...others
}: ButtonProps): ReactNode {
  const click = (event: MouseEvent<HTMLButtonElement>): void => {
    if (loading) event.preventDefault();
    else onClick?.(event);
  };
  return (
    <button
      type="button"
      {...others}
      {...looksOf({ variant, size })}
      aria-disabled={loading || undefined}
      data-loading={loading || undefined}
      onClick={click}
    >
      {leftSection}
      {children}
    </button>
  );
}

interface ButtonLinkProps extends Looks, Pick<ComponentProps<"a">, "aria-label" | "children" | "id"> {
  readonly href: string;
}

/** A link that looks like a button: it leads to a page where something begins. */
export const ButtonLink = ({
  variant,
  size,
  leftSection,
  children,
  ...others
}: ButtonLinkProps): ReactNode => (
  <Link {...others} {...looksOf({ variant, size })}>
    {leftSection}
    {children}
  </Link>
);
