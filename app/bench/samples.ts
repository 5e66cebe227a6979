/** Nearest-rank percentile (`p` in 0 to 1) of values in any order; NaN of none. */
export function percentile(values: readonly number[], p: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(p * sorted.length) - 1))]!;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);
export const worst = (values: readonly number[]): number => percentile(values, 1);

/** Milliseconds between two stamps of `process.hrtime.bigint()`. */
export const msBetween = (from: bigint, to: bigint): number => Number(to - from) / 1e6;

/** Milliseconds of each of `times` runs. */
export function timed(times: number, work: (run: number) => unknown): number[] {
  return Array.from({ length: times }, (_, run) => {
    const from = process.hrtime.bigint();
    work(run);
    return msBetween(from, process.hrtime.bigint());
  });
}

/** Short text: three significant digits, no exponent. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return value.toFixed(0);
  return value.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3);
}
