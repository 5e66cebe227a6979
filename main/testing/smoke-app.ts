import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SMOKE_USER, smokeCommand, smokeRuntime } from '../../build/smoke-runtime.mjs';
import { tempFolder, type TempFolder } from '../../app/testing/temp.ts';

export const projectRoot = fileURLToPath(new URL('../../', import.meta.url));

/** A folder, a screen and a command that runs the built app on a real Electron as an ordinary user. */
export interface SmokeStage extends AsyncDisposable {
  readonly folder: TempFolder;
  /** Takes the app's arguments. */
  readonly command: string;
  readonly env: Record<string, string>;
  /** Gives everything below the folder to the user who runs the app. */
  handOver(): void;
}

/** @returns the stage, or why there is none. Nothing is fetched twice. */
export async function smokeStage(): Promise<SmokeStage | { readonly skipped: string }> {
  const runtime = await smokeRuntime((line) => process.stderr.write(`${line}\n`));
  if ('skipped' in runtime) return runtime;
  const folder = tempFolder('belfry-smoke');
  chmodSync(folder.path, 0o755);
  const display = await startDisplay();
  const { command, node } = smokeCommand(runtime, folder.path);
  return {
    folder,
    command,
    env: {
      PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', HOME: folder.path, TMPDIR: folder.path, DISPLAY: `:${display.number}`, BELFRY_ENGINE_NODE: node,
    },
    handOver() {
      if (process.getuid?.() === 0) spawnSync('chown', ['-R', `${SMOKE_USER}:`, folder.path]);
    },
    async [Symbol.asyncDispose]() {
      display.process.kill();
      folder.remove();
    },
  };
}

/** Xvfb picks a number that is free. */
async function startDisplay(): Promise<{ process: ChildProcess; number: string }> {
  const child = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  process.on('exit', () => child.kill());
  const said = child.stdio[3] as NodeJS.ReadableStream;
  return new Promise((resolve, reject) => {
    let text = '';
    said.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve({ process: child, number: text.trim() });
    });
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`Xvfb ended with ${code}.`)));
  });
}
