import { Random } from './random.ts';

/** How long each parser is fuzzed, in ms; `BELFRY_LONG=1` for a long run. */
export const FUZZ_MS = process.env['BELFRY_LONG'] === '1' ? 60_000 : 5000;
/** For the test's own time-out. */
export const FUZZ_TIMEOUT = FUZZ_MS * 3 + 30_000;
/** No input of some KB may take so long, however busy the machine is. */
const MAX_CALL_MS = 5000;
const MAX_LENGTH = 64 * 1024;

/**
 * Runs `parse` over mutations of the seeds until the time is up. Throws, with the seed number and the input in hex, if it throws
 * or takes for ever.
 */
export async function fuzz(seeds: readonly Uint8Array[], parse: (input: Buffer) => unknown, seed = Date.now() >>> 0): Promise<number> {
  const random = new Random(seed);
  const end = performance.now() + FUZZ_MS;
  let runs = 0;
  for (; performance.now() < end; runs += 1) {
    const input = mutated(random, seeds);
    const from = performance.now();
    try {
      await parse(input);
    } catch (error) {
      throw new Error(`Seed ${seed}, run ${runs}: ${String(error)}; input ${input.toString('hex').slice(0, 4000)}`, { cause: error });
    }
    if (performance.now() - from > MAX_CALL_MS) throw new Error(`Seed ${seed}, run ${runs} took ${performance.now() - from} ms; input ${input.toString('hex').slice(0, 4000)}`);
    // Lets the test runner breathe.
    if (runs % 500 === 0) await new Promise((done) => { setImmediate(done); });
  }
  return runs;
}

function mutated(random: Random, seeds: readonly Uint8Array[]): Buffer {
  let bytes = Buffer.from(random.pick(seeds));
  for (let times = random.between(1, 6); times > 0; times -= 1) {
    const [at, other] = [random.between(0, bytes.length), random.between(0, bytes.length)];
    const [low, high] = [Math.min(at, other), Math.max(at, other)];
    switch (random.between(0, 6)) {
      case 0:
        bytes = bytes.subarray(0, at);
        break;
      case 1:
        if (at < bytes.length) bytes[at] = random.between(0, 255);
        break;
      case 2:
        if (at < bytes.length) bytes[at] = random.pick([0, 0x0a, 0x0d, 0x22, 0x2d, 0x3c, 0x3d, 0x3e, 0x7f, 0x80, 0x81, 0x82, 0x84, 0x86, 0x92, 0xff]);
        break;
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, low), bytes.subarray(high)]);
        break;
      case 4:
        bytes = Buffer.concat([bytes.subarray(0, high), bytes.subarray(low)]);
        break;
      case 5: {
        const from = Buffer.from(random.pick(seeds));
        const start = random.between(0, from.length);
        bytes = Buffer.concat([bytes.subarray(0, at), from.subarray(start, start + random.between(0, 200)), bytes.subarray(at)]);
        break;
      }
      default: {
        const piece = bytes.subarray(low, Math.min(high, low + 64));
        bytes = Buffer.concat([bytes.subarray(0, at), ...Array.from({ length: random.between(2, 40) }, () => piece), bytes.subarray(at)]);
      }
    }
    if (bytes.length > MAX_LENGTH) bytes = bytes.subarray(0, MAX_LENGTH);
  }
  return bytes;
}
