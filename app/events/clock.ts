/** Time as an edge: everything that waits or tells the time is given this. Each arming returns its own cancel. */
export interface Clock {
  /** Wall time, Unix ms. */
  now(): number;
  /** Milliseconds that only go forward. */
  monotonic(): number;
  /** `ms` 0 means as soon as pending input and output were handled. */
  after(ms: number, work: () => void): () => void;
  every(ms: number, work: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, work) {
    if (ms === 0) {
      const handle = setImmediate(work);
      return () => clearImmediate(handle);
    }
    const handle = setTimeout(work, ms);
    handle.unref();
    return () => clearTimeout(handle);
  },
  every(ms, work) {
    const handle = setInterval(work, ms);
    handle.unref();
    return () => clearInterval(handle);
  },
};
