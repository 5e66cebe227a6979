import { beforeEach, expect, test } from 'vitest';
import type { MessagePortMain, WebContents } from 'electron';
import { EngineLinks } from './engine-links.ts';
import type { EngineClient } from './engine-host.ts';
import { CHANNELS } from './origin.ts';
import { reset } from './testing/electron-double.ts';

let up: boolean;
let linked: MessagePortMain[];
let told: (engine: EngineClient | null) => void;
let links: EngineLinks;
beforeEach(() => {
  reset();
  up = false;
  linked = [];
  links = new EngineLinks({
    link(page) {
      if (up) linked.push(page);
      return up;
    },
    onEngine(listener) {
      told = listener;
      return () => undefined;
    },
  });
});

const page = (id: number) => {
  const got: unknown[] = [];
  return { got, contents: { id, postMessage: (channel: string, message: unknown, ports?: unknown[]) => got.push([channel, message, ports?.length ?? 0]) } as Pick<WebContents, 'id' | 'postMessage'> };
};
const LINK = [CHANNELS.engine, 'belfry:engine', 1];
const GONE = [CHANNELS.engine, 'belfry:engine-gone', 0];
const engine = {} as EngineClient;

test('a page that asks gets a port, or hears that there is none; each engine that follows gives it another', () => {
  const one = page(1);
  links.want(one.contents);
  expect(one.got).toEqual([GONE]);
  up = true;
  told(engine);
  up = false;
  told(null);
  up = true;
  told(engine);
  expect(one.got).toEqual([GONE, LINK, GONE, LINK]);
  expect(linked.length).toBe(2);
});

test('a page that was loaded again asks again and is not linked twice; one that went is not linked at all', () => {
  const [one, two] = [page(1), page(2)];
  up = true;
  links.want(one.contents);
  links.want(one.contents);
  links.want(two.contents);
  links.forget(2);
  told(null);
  told(engine);
  expect(one.got).toEqual([LINK, LINK, GONE, LINK]);
  expect(two.got).toEqual([LINK]);
});
