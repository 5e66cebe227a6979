import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { tempFolder, type TempFolder } from './temp.ts';
import { listWirings, WiringDesk, type WiringEnv, type WiringOutcome, type WiringRow } from '../wiring/wiring.ts';

export const shim = "/Applications/It's here.app/Contents/MacOS/belfry-mcp";

export interface Mac extends Disposable {
  readonly env: WiringEnv;
  readonly folder: TempFolder;
  readonly desk: WiringDesk;
  /** Moves the clock on, in ms. */
  pass(ms: number): void;
  /** A file below the home folder, with its folders. */
  put(path: string, content: string | Buffer): string;
  row(id: string): WiringRow;
  /** Shows the change and makes it at once. */
  make(id: string, change: 'add' | 'remove', name?: string): WiringOutcome;
}

/** A home folder with nothing of any client in it. */
export function mac(overrides: Partial<WiringEnv> = {}): Mac {
  const folder = tempFolder('belfry-wiring');
  let now = 1_800_000_000_000;
  const env: WiringEnv = { home: folder.path, platform: 'darwin', applications: [folder.at('Applications')], tools: [folder.at('bin')], shim, now: () => now, ...overrides };
  const desk = new WiringDesk();
  return {
    env,
    folder,
    desk,
    pass: (ms) => {
      now += ms;
    },
    put(path, content) {
      const file = folder.at(path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
    row: (id) => listWirings(env).find((row) => row.id === id)!,
    make(id, change, name) {
      const preview = desk.preview(env, id, change, name);
      if (!preview.ok) return { ok: false, code: 'unknown', message: preview.message };
      return desk.apply(env, preview.token);
    },
    [Symbol.dispose]: () => {
      folder.remove();
    },
  };
}

export const cursor = '.cursor/mcp.json';
