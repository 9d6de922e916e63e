import {
  type Icon,
  IconCheck,
  IconClock,
  IconHourglass,
  IconLoader2,
  IconMinus,
  IconSlash,
  IconX,
} from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useTranslation } from "../i18n/use-translation.ts";
import classes from "./state.module.css";

/** States of runs and steps. */
export type StateName =
  | "pending"
  | "queued"
  | "running"
  | "waiting"
  | "completed"
  | "failed"
  | "cancelled"
  | "skipped";

const ICONS: Readonly<Record<StateName, Icon>> = {
  pending: IconClock,
  queued: IconHourglass,
  running: IconLoader2,
  waiting: IconHourglass,
  completed: IconCheck,
  failed: IconX,
  cancelled: IconSlash,
  skipped: IconMinus,
};
const ICON_SIZE = 16;

interface Props {
  readonly name: StateName;
  /** The word, if it is not that of a run. */
  readonly label?: string;
}

/** The symbol of a state, for places that say its word elsewhere. */
export function StateSymbol({ name }: { readonly name: StateName }): ReactNode {
  const IconOfState = ICONS[name];
  return (
    <span className={classes.state} data-state={name}>
      <IconOfState size={ICON_SIZE} stroke={2} aria-hidden />
    </span>
  );
}

/** A state as symbol, word and color. */
export function State({ name, label }: Props): ReactNode {
  const { t } = useTranslation();
  const IconOfState = ICONS[name];
  return (
    <span className={classes.state} data-state={name}>
      <IconOfState size={ICON_SIZE} stroke={2} aria-hidden />
      {label ?? t(`state.${name}`)}
    </span>
  );
}
