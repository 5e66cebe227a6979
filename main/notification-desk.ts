import { Notification } from 'electron';
import type { Clock } from './clock.ts';
import { decideAlerts, type Alert, type AlertFacts, type AlertId, type AlertMemory } from './notifications.ts';

/** Shows what was decided, and takes back what no longer holds. */
export class NotificationDesk {
  readonly #clock: Clock;
  readonly #facts: () => AlertFacts;
  readonly #chosen: (alert: Alert) => void;
  readonly #shown = new Map<AlertId, Notification>();
  #memory: AlertMemory = new Map();
  #cancel: () => void = () => undefined;

  /** @param chosen a click on one */
  constructor(clock: Clock, facts: () => AlertFacts, chosen: (alert: Alert) => void) {
    this.#clock = clock;
    this.#facts = facts;
    this.#chosen = chosen;
  }

  /** After anything that may have changed a condition. */
  look(): void {
    this.#cancel();
    const { tell, withdraw, memory, againMs } = decideAlerts(this.#facts(), this.#memory, this.#clock.monotonic());
    this.#memory = memory;
    for (const id of withdraw) {
      this.#shown.get(id)?.close();
      this.#shown.delete(id);
    }
    for (const alert of tell) this.#show(alert);
    if (againMs !== null) this.#cancel = this.#clock.after(againMs, () => this.look());
  }

  #show(alert: Alert): void {
    if (!Notification.isSupported()) return;
    const notification = new Notification({ title: 'Belfry', body: alert.text, silent: true });
    notification.on('click', () => this.#chosen(alert));
    this.#shown.set(alert.id, notification);
    notification.show();
  }
}
