import { type ReactNode, useId } from "react";
import { useTranslation } from "../i18n/use-translation.ts";
import classes from "./chart-bars.module.css";

const HEIGHT = 120;
/** Width of a bar with its gap, in the units of the drawing. */
const STEP = 12;
const GAP = 2;

export interface Series {
  readonly name: string;
  /** A class that sets the color. */
  readonly color: string;
}

interface Props {
  readonly title: string;
  readonly series: readonly Series[];
  readonly bars: readonly { readonly name: string; readonly values: readonly number[] }[];
}

/** Stacked bars, with the same numbers as a table. */
export function ChartBars({ title, series, bars }: Props): ReactNode {
  const { t, i18n } = useTranslation();
  const id = useId();
  const sums = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const largest = Math.max(1, ...sums);
  const format = new Intl.NumberFormat(i18n.language).format;
  const total = sums.reduce((sum, value) => sum + value, 0);
  return (
    <figure className={classes.chart} aria-labelledby={id}>
      <figcaption id={id} className={classes.caption}>
        <span>{title}</span>
        <ul className={classes.legend}>
          {series.map(({ name, color }) => (
            <li key={name}>
              <svg width={10} height={10} aria-hidden>
                <rect width={10} height={10} rx={2} className={classes[color]} />
              </svg>
              {name}
            </li>
          ))}
        </ul>
      </figcaption>
      <svg
        viewBox={`0 0 ${bars.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        className={classes.drawing}
        role="img"
        aria-label={t("chart.summary", { title, total: format(total), largest: format(largest) })}
      >
        {bars.map(({ name, values }, index) => (
          <g key={name}>
            <title>{`${name}: ${format(sums[index] ?? 0)}`}</title>
            <rect x={index * STEP} width={STEP} height={HEIGHT} className={classes.ground} />
            {stacked(values, largest).map(({ from, height, at }) => (
              <rect
                key={at}
                x={index * STEP + GAP / 2}
                y={HEIGHT - from - height}
                width={STEP - GAP}
                height={height}
                className={classes[series[at]?.color ?? ""]}
              />
            ))}
          </g>
        ))}
      </svg>
      <p className={classes.ends} aria-hidden>
        <span>{bars[0]?.name}</span>
        <span>{t("chart.largest", { largest: format(largest) })}</span>
        <span>{bars.at(-1)?.name}</span>
      </p>
      <details className={classes.table}>
        <summary>{t("chart.table")}</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("chart.day")}</th>
              {series.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {bars
              .filter((_bar, index) => (sums[index] ?? 0) > 0)
              .map(({ name, values }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  {values.map((value, at) => (
                    <td key={series[at]?.name}>{format(value)}</td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/** The parts of a bar, the last series at the bottom, without empty ones. */
function stacked(
  values: readonly number[],
  largest: number,
): { readonly at: number; readonly from: number; readonly height: number }[] {
  let from = 0;
  return values
    .map((value, at) => ({ at, height: (value / largest) * HEIGHT }))
    .reverse()
    .flatMap(({ at, height }) => {
      if (height === 0) return [];
      from += height;
      return [{ at, from: from - height, height }];
    });
}
