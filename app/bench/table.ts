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

const isBound = ({ atMost, atLeast }: Measured): boolean => atMost !== undefined || atLeast !== undefined;
