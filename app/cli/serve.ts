import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { engineOf, startTrouble, type EngineSettings } from '../engine/host.ts';
import { commandRunner } from '../engine/commands.ts';
import { startPage } from '../engine/page.ts';
import { defaultDataDir } from './data-folder.ts';

/** Folders of other programs' settings, as this user's environment has them. */
function wiringHomes() {
  const { XDG_CONFIG_HOME: xdg, CODEX_HOME: codex, CLAUDE_CONFIG_DIR: claude } = process.env;
  return { home: homedir(), configHomes: { ...(xdg && { xdg }), ...(codex && { codex }), ...(claude && { claude }) } };
}

export interface ServeFlags extends EngineSettings {
  /** Port of the page on loopback; 0 chooses one; undefined: no page. */
  readonly ui?: number | undefined;
}

/**
 * Runs the engine in this process until SIGTERM or SIGINT. stdout has the one line that scripts wait for, and
 * with a page or HTTP a line with each address; everything else goes to stderr.
 * @returns exit code (ruling 15): 0 after a clean stop, 3 where the folder is held or the socket cannot be made.
 */
export async function serve(flags: ServeFlags): Promise<number> {
  const log = (line: string) => process.stderr.write(`belfry: ${line}\n`);
  let end: (code: number) => void = () => undefined;
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  // Before anything says that we are ready: a stop may come in the same moment.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => end(0));
  let engine;
  try {
    engine = engineOf(flags, 'serve', log, (sentence) => {
      log(sentence);
      end(3);
    });
    engine.command = commandRunner(engine, 'serve');
    await engine.start();
  } catch (error) {
    log(startTrouble(error));
    await engine?.stop().catch(() => undefined);
    return 3;
  }
  log('Any program of this user can change the policy of a headless engine: it has no owner\'s window and no seal.');
  if (flags.plainIndex) log('--plain-index: the search index is not encrypted: whoever can read the data folder, or a copy of it, can read the words of all mail that is indexed.');
  if (flags.trustLocalClients) log('--trust-local-clients: clients that nobody decided on are let in.');
  if (flags.webhookCa !== undefined) log('--local-webhooks: webhooks may go to receivers on this machine.');
  const { url, sentence } = engine.http.state;
  if (sentence !== null) log(sentence);
  if (typeof flags.httpPort === 'number' && url === null) {
    await engine.stop();
    return 3;
  }
  const page = flags.ui === undefined ? null : await startPage(engine, {
    port: flags.ui, wiring: wiringHomes(), usualFolder: resolve(flags.dataDir) === resolve(defaultDataDir()),
  });
  process.stdout.write(`listening ${engine.socketPath}\n`);
  if (page) process.stdout.write(`page ${page.address}\n`);
  if (url !== null) process.stdout.write(`http ${url}\n`);
  const code = await ended;
  await page?.close();
  await engine.stop();
  return code;
}
