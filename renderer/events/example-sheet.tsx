import { EVENT_TITLES } from '../../app/contract/glance.ts';
import { Button } from '../parts/button.tsx';
import { CodeBox } from '../parts/code-box.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { clockNow } from '../stores/clock.ts';
import { exampleOf, type EventEntry } from './payload-fields.ts';

export function ExampleSheet({ entry, onClose }: { readonly entry: EventEntry; readonly onClose: () => void }) {
  const titles: Readonly<Record<string, string>> = EVENT_TITLES;
  const now = clockNow();
  const example = { eventId: 'a1b2c3d4-4711', name: entry.name, timestamp: new Date(now).toISOString(), data: exampleOf(entry.payloadSchema, now) };
  return (
    <Sheet title={`${titles[entry.name] ?? entry.name}: an example`} wide onClose={onClose} actions={<Button look="main" onClick={onClose}>Done</Button>}>
      <p className="muted">This is all that a client gets: the envelope, never the text.</p>
      <CodeBox name="An example event" text={JSON.stringify(example, null, 2)} />
    </Sheet>
  );
}
