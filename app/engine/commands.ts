import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { probeCommand } from '../cli/probe-command.ts';
import { probeWords } from '../cli/probe-flags.ts';
import { runCommand, type EngineApi } from '../cli/run-command.ts';
import { describeFault } from './log.ts';
import { pipeOf } from '../probe/pipe-link.ts';
import type { Change, Outcome } from '../policy/change.ts';
import type { Engine } from './engine.ts';
import { resolveExcluded, resolvePlaces, shownPlaces } from './mailbox-names.ts';
import { doctor, statusOf } from './report.ts';
import { testClient } from './test-event.ts';
import { version } from './version.ts';
import { stopWatch, watchRows } from './watch-calls.ts';
import { answerWaiting, waitingRows } from './writing.ts';
import { stopWebhook, webhookRows } from './webhook-calls.ts';

/** What the command line may ask of an engine. In the app any program can ask: it is not told which chats there are. */
export function engineApi(engine: Engine, host: 'serve' | 'app' = 'serve'): EngineApi {
  const { policy } = engine;
  return {
    snapshot: () => policy.snapshot(),
    widens: (change) => {
      const named = withNames(engine, change, host);
      return named.ok && policy.widens(named.change);
    },
    change: (change) => {
      const named = withNames(engine, change, host);
      return named.ok ? policy.change(named.change) : named;
    },
    request: (change) => {
      const named = withNames(engine, change, host);
      return named.ok ? policy.request(named.change) : named;
    },
    chats: () => engine.chats.rows(policy.snapshot().chats),
    excluded: () => shownPlaces(engine.readable('mail'), policy.snapshot().excluded),
    version,
    status: () => statusOf(engine),
    doctor: () => Promise.resolve(doctor(engine)),
    waiting: () => waitingRows(engine),
    answer: (id, accept) => answerWaiting(engine, id, accept),
    watches: () => watchRows(engine),
    rebuildSearch: () => engine.search.rebuild(),
    deadLetters: () => engine.search.deadLetters(),
    stopWatch: (id) => stopWatch(engine, id),
    webhooks: () => webhookRows(engine),
    stopWebhook: (id) => stopWebhook(engine, id),
    testClient: (id) => Promise.resolve(testClient(engine, id)),
  };
}

/** Chats, accounts and mailboxes by their ids, as policy keeps them. */
function withNames(engine: Engine, change: Change, host: 'serve' | 'app'): { readonly ok: true; readonly change: Change } | Extract<Outcome, { ok: false }> {
  if (change.do === 'remove-chats') {
    return { ok: true, change: { ...change, chats: engine.chats.resolveRules(change.chats, engine.policy.snapshot().chats) } };
  }
  if (change.do === 'include') {
    return { ok: true, change: { ...change, places: resolveExcluded(engine.readable('mail'), change.places, engine.policy.snapshot().excluded) } };
  }
  if (change.do === 'exclude') {
    const places = resolvePlaces(engine.readable('mail'), change.places);
    return places.ok ? { ok: true, change: { ...change, places: places.keys } } : places;
  }
  if (change.do !== 'add-chats') return { ok: true, change };
  const resolved = engine.chats.resolve(change.chats, host === 'serve');
  return resolved.ok ? { ok: true, change: { ...change, chats: resolved.chats } } : resolved;
}

/** Runs the command lines that come in by the socket and writes their frames (architecture 6). */
export function commandRunner(engine: Engine, host: 'serve' | 'app') {
  const api = engineApi(engine, host);
  return (socket: Socket, argv: readonly string[]): void => {
    const probe = probeWords(argv);
    const ended = probe === null ? runCommand(argv, api, { headless: host === 'serve', isOwnerConsole: false }).then(({ code, stdout, stderr }) => {
      socket.write(Buffer.concat([frame('o', stdout), frame('e', stderr)]));
      return code;
    }) : probeFor(engine, socket, probe);
    void ended.then(
      (code) => socket.end(`x ${code}\n`),
      (error: unknown) => {
        engine.options.log(`command: ${describeFault(error)}`);
        socket.end('x 1\n');
      },
    );
  };
}

/** A probe of this very engine, in the name of whoever runs the helper: with the rights of that client and no other. */
function probeFor(engine: Engine, socket: Socket, argv: readonly string[]): Promise<number> {
  const gone = new AbortController();
  if (socket.destroyed) gone.abort();
  else socket.on('close', () => gone.abort());
  socket.resume();
  return probeCommand(argv, {}, {
    clock: engine.clock, version, interrupt: gone.signal, outside: null, lab: null,
    openBelfry: (channel) => {
      const [ours, theirs] = duplexPair();
      engine.peers.attach(socket, theirs, { label: 'probe', channel });
      return Promise.resolve(pipeOf(ours));
    },
  }, {
    out: (text) => void socket.write(frame('o', text)),
    err: (text) => void socket.write(frame('e', text)),
  });
}

function frame(kind: 'o' | 'e', text: string): Buffer {
  const bytes = Buffer.from(text);
  return bytes.length === 0 ? bytes : Buffer.concat([Buffer.from(`${kind} ${bytes.length}\n`), bytes]);
}
