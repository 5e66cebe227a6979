import { Button } from '../parts/button.tsx';
import { engine } from '../stores/engine-store.ts';
import { run } from '../stores/notice-store.ts';

/** Any program of the same user can write the settings file; the seal shows that one did (architecture 2). */
export function SealReview() {
  const answer = (accept: boolean) => void run(engine.settings.answerSeal({ accept }));
  return (
    <section className="settings-review" aria-labelledby="settings-seal">
      <h2 id="settings-seal">Settings were changed outside Belfry</h2>
      <p>The settings file isn't the one that Belfry wrote last. Another program may have changed it, or a backup was put back. Everything is off until you decide.</p>
      <ul className="settings-lines">
        <li>If you don't know why it changed, keep everything off. The changed file is kept beside the new one, and you can allow senders and clients again.</li>
        <li>If you changed it yourself, use it. Then check Senders and Clients.</li>
      </ul>
      <div className="settings-control">
        <Button look="main" onClick={() => answer(false)}>Keep Everything Off</Button>
        <Button look="danger" onClick={() => answer(true)}>Use the Changed Settings</Button>
      </div>
    </section>
  );
}
