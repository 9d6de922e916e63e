import type { ReactNode } from "react";
import { useConfig } from "../api/config.ts";
import classes from "./brand.module.css";
import { logoOf } from "./logo-of-theme.ts";

/** The logo of the theme file; without one, the name of the product. */
export function Brand(): ReactNode {
  const { data: config } = useConfig();
  const logo = logoOf(config?.theme_customization);
  if (logo === undefined) return <span className={classes.name}>Weft</span>;
  return (
    <span className={classes.name}>
      <img className={classes.logo} src={logo.src} alt={logo.alt} />
      {logo.hasName && " Weft"}
    </span>
  );
}
