import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { smokeStage } from './smoke-app.ts';

const LIMIT_MS = 60_000;

/**
 * How long the app takes from the start of its process to its icon in the menu bar, as it says itself, on the Electron of
 * the smoke test: in the background, so that no window is part of it.
 * @param runs each with a data folder of its own
 * @returns ms for each run, or why it can't be measured here
 */
export async function startTimes(runs: number): Promise<readonly number[] | { readonly skipped: string }> {
  const stage = await smokeStage();
  if ('skipped' in stage) return stage;
  try {
    const times: number[] = [];
    for (let run = 0; run < runs; run += 1) {
      const dataDir = stage.folder.at(`data-${run}`);
      mkdirSync(dataDir);
      writeFileSync(join(dataDir, 'preferences.json'), JSON.stringify({ version: 1, onboarding: 'done' }));
      stage.handOver();
      times.push(await startOnce(stage.command, stage.env, dataDir));
    }
    return times;
  } finally {
    await stage[Symbol.asyncDispose]();
  }
}

async function startOnce(command: string, env: Record<string, string>, dataDir: string): Promise<number> {
  const child = spawn(command, ['--background', `--data-dir=${dataDir}`, `--mail-dir=${dataDir}/none`, `--messages-db=${dataDir}/none.db`], { env, stdio: 'ignore' });
  const exit = once(child, 'exit');
  try {
    for (const end = performance.now() + LIMIT_MS; performance.now() < end;) {
      const said = /menu bar icon (\d+) ms after the start/.exec(textOf(join(dataDir, 'logs', 'belfry.log')));
      if (said) return Number(said[1]);
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
    throw new Error(`The app showed no icon within ${LIMIT_MS / 1000} s.`);
  } finally {
    child.kill('SIGTERM');
    await exit;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
