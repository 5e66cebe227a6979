import { commandRunner } from '../engine/commands.ts';
import { engineOf, type EngineSettings } from '../engine/host.ts';

/** An engine in a process of its own, to be killed. Settings come as JSON, then maybe the path of an osascript; `ready` and log lines go out by IPC. */
const settings = JSON.parse(process.argv[2] ?? '{}') as EngineSettings;
const engine = engineOf(
  settings, 'serve',
  (line) => process.send?.({ log: line }),
  (sentence) => {
    process.send?.({ log: sentence });
    process.exit(1);
  },
  process.argv[3] === undefined ? {} : { osascript: process.argv[3] },
);
engine.command = commandRunner(engine, 'serve');
await engine.start();
process.send?.({ ready: engine.socketPath });
process.on('disconnect', () => process.exit(0));
