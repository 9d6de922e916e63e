import { useMediaQuery } from "@mantine/hooks";
import { IconMinus, IconPlus } from "@tabler/icons-react";
import { type KeyboardEvent, memo, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import { isFinished, type Run } from "../../api/runs.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { IconButton } from "../../components/icon-button.tsx";
import { StateSymbol } from "../../components/state.tsx";
import { formatDuration } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { gradientOf } from "./item-states.ts";
import { StepList, type StepRowProps } from "./step-list.tsx";
import classes from "./timeline.module.css";
import { durationOfStep, stateOfStep, type TimelineStep } from "./timeline-data.ts";
import { moved, positionOf, type TimeWindow, ticksOf, zoomed } from "./timeline-scale.ts";

const ROW_HEIGHT = 28;
const OVERSCAN = 12;
const STRIP_PARTS = 200;
const TICKS = 6;
/** A small screen has room for fewer. */
const TICKS_SMALL = 3;
const SMALL = "(max-width: 767px)";
const NOW_MS = 1_000;
const ZOOM = 0.6;
const MOVE = 0.2;
/** A wait is written into its bar if it takes this part of what is shown. */
const LABEL_PERCENT = 8;

interface Props {
  readonly run: Run;
  readonly steps: readonly TimelineStep[];
  readonly current: string | undefined;
}

/** When each step ran and waited: a row per step, a segment per attempt. Only the rows in sight are drawn. */
export function TimelineView({ run, steps, current }: Props): ReactNode {
  const { t, i18n } = useTranslation();
  const [timeline, setTimeline] = useState<HTMLDivElement | null>(null);
  const isSmall = useMediaQuery(SMALL, false, { getInitialValueInEffect: false });
  const now = useNow(isFinished(run) ? undefined : NOW_MS);
  const origin = Date.parse(run.created_at);
  const end = run.completed_at === null ? now : Date.parse(run.completed_at);
  const all: TimeWindow = useMemo(() => ({ from: origin, to: Math.max(end, origin + 1) }), [origin, end]);
  // Undefined shows everything, also what is added.
  const [chosen, setChosen] = useState<TimeWindow>();
  const shown = chosen ?? all;
  const zoom = (factor: number, at = 0.5): void => setChosen(zoomed(shown, all, factor, at));
  const latest = useRef(zoom);
  latest.current = zoom;
  const latestMove = useRef((_part: number): void => undefined);
  latestMove.current = (part) => setChosen(moved(shown, all, part));
  useEffect(() => {
    // React's own listeners of the wheel cannot prevent the zoom of the page.
    const onWheel = (event: WheelEvent): void => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const bounds = timeline?.querySelector("[data-axis]")?.getBoundingClientRect();
        if (bounds === undefined) return;
        const at = Math.min(1, Math.max(0, (event.clientX - bounds.left) / bounds.width));
        latest.current(event.deltaY < 0 ? ZOOM : 1 / ZOOM, at);
      } else if (event.shiftKey) {
        event.preventDefault();
        latestMove.current(Math.sign(event.deltaY + event.deltaX) * MOVE);
      }
    };
    timeline?.addEventListener("wheel", onWheel, { passive: false });
    return () => timeline?.removeEventListener("wheel", onWheel);
  }, [timeline]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions: Readonly<Record<string, () => void>> = {
      "+": () => zoom(ZOOM),
      "=": () => zoom(ZOOM),
      "-": () => zoom(1 / ZOOM),
      "0": () => setChosen(undefined),
      ArrowLeft: () => setChosen(moved(shown, all, -MOVE)),
      ArrowRight: () => setChosen(moved(shown, all, MOVE)),
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
  if (steps.length === 0) return <EmptyState text={t("run.no_steps")} />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the rows and buttons inside arrive here
    <div ref={setTimeline} className={classes.timeline} onKeyDown={onKeyDown}>
      <div className={classes.bar}>
        <p className={classes.hint}>{t("timeline.hint")}</p>
        <IconButton
          aria-label={t("timeline.zoom_out")}
          disabled={chosen === undefined}
          onClick={() => zoom(1 / ZOOM)}
        >
          <IconMinus size={16} aria-hidden />
        </IconButton>
        <IconButton aria-label={t("timeline.zoom_in")} onClick={() => zoom(ZOOM)}>
          <IconPlus size={16} aria-hidden />
        </IconButton>
        <button
          type="button"
          className={classes.fit}
          disabled={chosen === undefined}
          onClick={() => setChosen(undefined)}
        >
          {t("timeline.fit")}
        </button>
      </div>
      <StepList
        label={t("timeline.label")}
        classNames={[classes.scroll, classes.rows]}
        head={
          <div className={classes.axis}>
            <div data-axis className={classes.track} aria-hidden>
              {ticksOf(shown, origin, isSmall ? TICKS_SMALL : TICKS).map((tick) => (
                <span
                  key={tick}
                  className={classes.tick}
                  style={{ insetInlineStart: `${positionOf(origin + tick, shown)}%` }}
                >
                  {formatDuration(tick, i18n.language)}
                </span>
              ))}
            </div>
          </div>
        }
        steps={steps}
        current={current}
        rowHeight={ROW_HEIGHT}
        overscan={OVERSCAN}
      >
        {(row) => (
          <Row {...row} from={shown.from} to={shown.to} now={row.step.completed_at === null ? now : 0} />
        )}
      </StepList>
    </div>
  );
}

/** The time, again and again; without an interval, only once. */
function useNow(interval: number | undefined): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (interval === undefined) return;
    const timer = setInterval(() => setNow(Date.now()), interval);
    return () => clearInterval(timer);
  }, [interval]);
  return now;
}

interface RowProps extends StepRowProps {
  readonly from: number;
  readonly to: number;
  /** Only of a step that has not ended. */
  readonly now: number;
}

const Row = memo(function Row({ step, depth, from, to, now, isCurrent, href }: RowProps): ReactNode {
  const { t, i18n } = useTranslation();
  const { key, attempts, items, retry_at } = step;
  const state = stateOfStep(step);
  const duration = formatDuration(durationOfStep(step, now), i18n.language);
  const segments = segmentsOf(step, now);
  const shown = { from, to };
  const description = [
    t(`state.${state}`),
    duration,
    ...(attempts.length > 1 ? [t("run.attempt", { count: attempts.length })] : []),
  ];
  return (
    <Link
      href={href}
      id={`step-${key}`}
      data-row
      className={classes.row}
      aria-current={isCurrent ? "true" : undefined}
    >
      <span className={classes.name} style={{ paddingInlineStart: depth * 12 }} dir="auto" title={key}>
        <StateSymbol name={state} />
        {key}
      </span>
      <span className={classes.track} role="img" aria-label={description.join(", ")}>
        {segments.map((segment) => {
          const [left, right] = [positionOf(segment.from, shown), positionOf(segment.to, shown)];
          if (right < 0 || left > 100) return null;
          const [start, stop] = [Math.max(0, left), Math.min(100, right)];
          return (
            <span
              key={`${segment.kind}${segment.from}`}
              className={classes.segment}
              data-kind={segment.kind}
              style={{
                insetInlineStart: `${start}%`,
                width: `${stop - start}%`,
                ...(items !== null && segment.kind !== "waiting" && items.states !== ""
                  ? { backgroundImage: gradientOf(items, STRIP_PARTS) }
                  : {}),
              }}
              title={formatDuration(segment.to - segment.from, i18n.language)}
            >
              {segment.kind === "waiting" && stop - start > LABEL_PERCENT
                ? formatDuration(segment.to - segment.from, i18n.language)
                : ""}
            </span>
          );
        })}
        {retry_at === null && (
          <span
            className={classes.end}
            style={{
              insetInlineStart: `${Math.min(100, Math.max(0, positionOf(segments.at(-1)?.to ?? 0, shown)))}%`,
            }}
          >
            {duration}
          </span>
        )}
      </span>
    </Link>
  );
});

interface Segment {
  readonly kind: TimelineStep["attempts"][number]["status"] | "waiting";
  readonly from: number;
  readonly to: number;
}

/** The attempts of a step, and the waits between them. */
function segmentsOf({ attempts, retry_at }: TimelineStep, now: number): Segment[] {
  const segments: Segment[] = [];
  for (const { started_at, completed_at, status } of attempts) {
    const from = Date.parse(started_at);
    const before = segments.at(-1);
    if (before !== undefined && from > before.to)
      segments.push({ kind: "waiting", from: before.to, to: from });
    segments.push({
      kind: status,
      from,
      to: completed_at === null ? Math.max(now, from) : Date.parse(completed_at),
    });
  }
  const last = segments.at(-1);
  if (retry_at !== null && last !== undefined)
    segments.push({ kind: "waiting", from: last.to, to: Math.max(now, last.to) });
  return segments;
}
