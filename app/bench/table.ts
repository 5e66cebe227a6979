import { short } from './samples.ts';

/** One number with the most (or least) that it may be; without a bound it is only reported. */
export interface Measured {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** One line of the table. */
export interface Figure {
  readonly figure: string;
  readonly measured: readonly Measured[];
  /** What it was measured against in the same run. */
  readonly against?: string;
  /** Printed under the table where a bound was missed: what else in this run explains it. */
  readonly why?: string;
  /** Everything that was measured, for the JSON. */
  readonly samples?: Readonly<Record<string, readonly number[]>>;
}

export const isMet = ({ value, atMost, atLeast }: Measured): boolean =>
  (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast);

export function table(figures: readonly Figure[]): string {
  const rows = figures.map(({ figure, measured, against }) => [
    figure,
    measured.map(({ what, value, unit }) => `${what} ${short(value)}${unit && ` ${unit}`}`).join(', '),
    measured.filter(isBound).map(({ what, unit, atMost, atLeast }) => `${what} ${atMost === undefined ? '≥' : '≤'} ${short((atMost ?? atLeast)!)}${unit && ` ${unit}`}`).join(', '),
    against ?? '',
    measured.some(isBound) ? (measured.every(isMet) ? 'yes' : `no: ${measured.filter((each) => !isMet(each)).map((each) => each.what).join(', ')}`) : '',
  ]);
  return [['Figure', 'Measured', 'Must reach', 'Against, in the same run', 'Reached'], ['---', '---', '---', '---', '---'], ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** One line for each missed figure; empty if all were reached. @param otherwise the cause where a figure names none */
export function misses(figures: readonly Figure[], otherwise: string): string {
  const missed = figures.filter(({ measured }) => !measured.every(isMet));
  return missed.map(({ figure, measured, why }) => {
    const named = measured.filter((each) => !isMet(each)).map(({ what, value, unit, atMost, atLeast }) => `${what} ${short(value)} ${unit} instead of ${short((atMost ?? atLeast)!)}`);
    return `Not reached: ${figure}: ${named.join(', ')}. ${why ?? otherwise}\n`;
  }).join('');
}

const isBound = ({ atMost, atLeast }: Measured): boolean => atMost !== undefined || atLeast !== undefined;
