/** The rows of conformance-rows.md by scenario, and what became of each. */
export const SCENARIOS = {
  'events-discovery': [
    'capability-events-object', 'capability-list-changed-flag', 'capability-empty-settings', 'list-implemented', 'list-pagination', 'descriptor-name', 'descriptor-description',
    'descriptor-delivery-subset', 'descriptor-input-schema', 'descriptor-payload-schema', 'descriptor-meta', 'error-not-found', 'error-server-range', 'fallback-method-not-found',
    'list-changed-notification', 'result-type-complete', 'wire-schema-valid', 'capability-list-changed-gated',
  ],
  'events-poll': [
    'poll-implemented', 'poll-bootstraps-subscription', 'poll-events-array', 'poll-response-cursor', 'poll-next-poll-ms', 'poll-next-poll-ms-ignored-when-has-more', 'poll-has-more',
    'poll-max-events-cap', 'poll-stateless-request', 'poll-errors-are-jsonrpc', 'poll-one-subscription-per-request', 'poll-invalid-arguments', 'poll-mode-unsupported',
    'removal-poll-not-found', 'occurrence-event-id', 'occurrence-name', 'occurrence-timestamp', 'occurrence-data', 'occurrence-cursor-optional', 'occurrence-meta-ungoverned',
    'occurrence-event-id-from-upstream', 'cursor-opaque', 'cursor-null-starts-from-now', 'cursor-absent-equals-null', 'cursor-consistency', 'cursor-advances-when-quiet',
    'max-age-ms-floor', 'max-age-ms-sets-truncated', 'max-age-ms-ignored-when-cursor-null', 'replay-ceiling-sets-truncated', 'truncated-returns-fresh-cursor',
    'truncated-poll-never-an-error', 'truncated-false-when-no-replay', 'error-invalid-params', 'mcp-name-missing-rejected', 'mcp-name-mismatch-rejected',
    'result-type-complete', 'wire-schema-valid',
  ],
  'events-push': [
    'stream-implemented', 'stream-error-before-open', 'stream-active-confirmation', 'stream-subscription-id-meta', 'stream-event-notification', 'stream-error-is-recoverable',
    'stream-terminated-ends-subscription', 'stream-gap-resends-active', 'stream-heartbeat-required', 'stream-heartbeat-carries-cursor', 'stream-heartbeat-interval',
    'stream-heartbeat-not-sse-comment', 'stream-final-result-shape', 'stream-final-result-timing', 'stream-cancel-stops-delivery', 'stream-exempt-from-concurrency-cap',
    'stream-carries-only-event-notifications', 'error-resource-exhausted', 'mcp-name-missing-rejected', 'mcp-name-mismatch-rejected', 'result-type-complete', 'wire-schema-valid',
    'stream-mode-unsupported', 'truncated-false-when-no-replay', 'removal-terminates-subscriptions', 'removal-error-not-found', 'removal-error-schema-changed',
    'removal-additive-no-terminate',
  ],
  'events-webhook': [
    'subscribe-webhook-only', 'subscribe-secret-required', 'subscribe-secret-format', 'subscribe-secret-rejected', 'subscribe-url-https-required', 'subscribe-url-non-https-rejected',
    'subscribe-auth-required', 'subscribe-key-composition', 'subscribe-key-immutable', 'subscribe-idempotent-upsert', 'subscribe-id-derived', 'subscribe-id-not-an-input',
    'subscribe-refresh-replaces-secret', 'subscribe-refresh-reactivates', 'subscribe-response-cursor', 'subscribe-response-truncated', 'subscribe-cross-tenant-isolation',
    'ttl-refresh-before-lte-suggestion', 'ttl-no-rejection-path', 'ttl-null-only-when-requested', 'ttl-omitted-means-default', 'ttl-long-grant-retained', 'ttl-no-expiry-persisted',
    'ttl-no-expiry-gc-terminated', 'unsubscribe-by-key', 'unsubscribe-unknown-not-found', 'error-unsupported',
  ],
  'events-webhook-delivery': [
    'delivery-post-json', 'delivery-standard-webhooks-headers', 'delivery-subscription-id-header', 'delivery-signature-formula', 'delivery-retry-regenerates-signature',
    'delivery-dual-sign-on-rotation', 'delivery-body-size', 'delivery-413-non-retryable', 'delivery-410-non-retryable', 'delivery-retries-bounded', 'delivery-status-last-error-category',
    'verification-required-before-delivery', 'verification-challenge-echo', 'verification-failure-error', 'verification-cached-per-principal-url', 'verification-persisted-for-no-expiry',
    'verification-uses-ssrf-hardened-path', 'verification-no-raw-endpoint-responses', 'server-identity-key-discovery', 'ssrf-validate-callback-url', 'ssrf-reject-non-routable',
    'ssrf-validate-at-delivery-time', 'ssrf-no-redirects', 'envelope-type-discriminator', 'envelope-signed-like-deliveries', 'envelope-webhook-id-format', 'envelope-gap',
    'envelope-terminated', 'error-callback-endpoint-error',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Scenario = keyof typeof SCENARIOS;
export const scenarios = Object.keys(SCENARIOS) as Scenario[];

export type Verdict = 'pass' | 'fail' | 'untestable' | 'skipped';

/** Rows that nothing here can show, and why. */
const WITHOUT: Readonly<Record<string, readonly [Exclude<Verdict, 'pass' | 'fail'>, string]>> = {
  'events-discovery list-pagination': ['untestable', 'two types are one page'],
  'events-poll poll-mode-unsupported': ['untestable', 'every type offers poll'],
  'events-poll replay-ceiling-sets-truncated': ['untestable', 'there is no ceiling: a cursor is served however old it is'],
  'events-poll truncated-false-when-no-replay': ['skipped', 'every type replays'],
  'events-push stream-mode-unsupported': ['untestable', 'every type offers push'],
  'events-push truncated-false-when-no-replay': ['skipped', 'every type replays'],
  'events-push removal-error-schema-changed': ['untestable', 'a schema changes with the version of Belfry, never while it runs'],
};

/** Collects what tests found. Their titles are the ids of the rows that they show, and what they say of them behind a colon. */
export class ConformanceTable {
  readonly #found = new Map<string, Verdict>();

  record(scenario: string, title: string, passed: boolean): void {
    for (const id of title.split(':', 1)[0]!.split(', ')) {
      const key = `${scenario} ${id}`;
      // One miss is a miss, whatever else shows the row.
      if (this.#found.get(key) !== 'fail') this.#found.set(key, passed ? 'pass' : 'fail');
    }
  }

  verdict(scenario: Scenario, id: string): { readonly verdict: Verdict | null; readonly why: string } {
    const found = this.#found.get(`${scenario} ${id}`);
    if (found !== undefined) return { verdict: found, why: '' };
    const without = WITHOUT[`${scenario} ${id}`];
    return without === undefined ? { verdict: null, why: 'no test shows it' } : { verdict: without[0], why: without[1] };
  }

  counts(scenario: Scenario): Record<Verdict, number> {
    const counts: Record<Verdict, number> = { pass: 0, fail: 0, untestable: 0, skipped: 0 };
    for (const id of SCENARIOS[scenario]) {
      const { verdict } = this.verdict(scenario, id);
      if (verdict !== null) counts[verdict] += 1;
    }
    return counts;
  }

  /** Rows that no test names and nothing excuses, and rows that failed. */
  misses(scenario: Scenario): string[] {
    return SCENARIOS[scenario].flatMap((id) => {
      const { verdict, why } = this.verdict(scenario, id);
      return verdict === null || verdict === 'fail' ? [`sep-3415-${id}: ${verdict ?? why}`] : [];
    });
  }

  /** Totals of each scenario, then every row that is no pass. */
  toString(): string {
    const cell = (value: string | number, width: number) => String(value).padStart(width);
    const lines = [`${'scenario'.padEnd(26)}${cell('pass', 6)}${cell('fail', 6)}${cell('untestable', 12)}${cell('skipped', 9)}`];
    for (const scenario of scenarios) {
      const { pass, fail, untestable, skipped } = this.counts(scenario);
      lines.push(`${scenario.padEnd(26)}${cell(pass, 6)}${cell(fail, 6)}${cell(untestable, 12)}${cell(skipped, 9)}`);
    }
    for (const scenario of scenarios) {
      for (const id of SCENARIOS[scenario]) {
        const { verdict, why } = this.verdict(scenario, id);
        if (verdict !== 'pass') lines.push(`${scenario} sep-3415-${id}: ${verdict ?? 'missing'}${why === '' ? '' : `, ${why}`}`);
      }
    }
    return lines.join('\n');
  }
}
