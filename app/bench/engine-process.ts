import { deafWatcher } from '../apple/watch.ts';
import { commandRunner } from '../engine/commands.ts';
import { engineOf, type EngineSettings } from '../engine/host.ts';
import { startPage } from '../engine/page.ts';
import { TestCredentials } from '../testing/test-credentials.ts';
import { countSql } from './sql-counter.ts';

/** What the bench says in the first argument, as JSON. */
export interface EngineProcessSettings extends EngineSettings {
  /** No file watcher: only the timer looks. */
  readonly deaf?: boolean;
  /** Costs a little on each statement, so only where statements are counted. */
  readonly countSql?: boolean;
  /** Serves the built page, with this home folder for wiring. */
  readonly pageHome?: string;
}

export interface Usage {
  readonly rssMb: number;
  readonly peakRssMb: number;
  /** User and system, ms since the start. */
  readonly cpuMs: number;
  readonly sql: Readonly<Record<string, number>>;
}

export type EngineProcessMessage = { readonly ready: string; readonly page: string | null; readonly http: string | null } | { readonly usage: Usage } | { readonly failed: string };

const { deaf, countSql: counting, pageHome, ...settings } = JSON.parse(process.argv[2] ?? '{}') as EngineProcessSettings;
const counts = counting ? countSql() : new Map<string, number>();
const say = (message: EngineProcessMessage): void => void process.send?.(message);
const engine = engineOf(settings, 'serve', () => undefined, (sentence) => say({ failed: sentence }), { ...(deaf && { watcher: deafWatcher }), credentials: new TestCredentials() });
engine.command = commandRunner(engine, 'serve');

// The kernel's own high-water mark starts with that of the process that forked this one. Where idleness is
// measured nothing else may wake this process.
let peak = 0;
const weigh = () => {
  peak = Math.max(peak, process.memoryUsage.rss() / 1024 / 1024);
};
if (!counting) setInterval(weigh, 500).unref();

process.on('message', (wish: 'usage' | 'stop') => {
  if (wish === 'stop') void engine.stop().then(() => process.exit(0));
  else say({ usage: usage() });
});
process.on('disconnect', () => process.exit(0));
start().then(say, (error: unknown) => say({ failed: String(error) }));

async function start(): Promise<EngineProcessMessage> {
  await engine.start();
  const page = pageHome === undefined ? null : await startPage(engine, { port: 0, wiring: { home: pageHome }, usualFolder: false });
  return { ready: engine.socketPath, page: page?.address ?? null, http: engine.http.state.url };
}

function usage(): Usage {
  weigh();
  const { user, system } = process.cpuUsage();
  return {
    rssMb: process.memoryUsage.rss() / 1024 / 1024,
    peakRssMb: peak,
    cpuMs: (user + system) / 1000,
    sql: Object.fromEntries(counts),
  };
}
