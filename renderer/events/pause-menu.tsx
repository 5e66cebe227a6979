import type { Glance } from '../../app/contract/glance.ts';
import { Button } from '../parts/button.tsx';
import { Menu } from '../parts/menu.tsx';
import { doDeed, startPause } from '../stores/use-glance.ts';

/** Pause with its choices, or Resume. */
export function PauseMenu({ pause }: { readonly pause: Glance['pause'] }) {
  if (pause.paused) return <Button onClick={() => doDeed({ kind: 'resume' }, true)}>Resume</Button>;
  return <Menu label="Pause" items={pause.choices.map(({ label, ms }) => ({ label, onChoose: () => startPause(ms) }))} />;
}
