import type { App } from 'electron';

interface Contents {
  on(event: 'will-navigate' | 'will-redirect' | 'will-attach-webview' | 'will-frame-navigate', listener: (event: { preventDefault(): void }) => void): unknown;
  setWindowOpenHandler(handler: () => { action: 'deny' }): void;
}

/** Whatever page comes up stays where it was opened, opens no window and holds no other page. */
export function holdPages(app: Pick<App, 'on'>): void {
  app.on('web-contents-created', (_event, contents) => holdPage(contents));
}

export function holdPage(contents: Contents): void {
  const deny = (event: { preventDefault(): void }) => event.preventDefault();
  contents.on('will-navigate', deny);
  contents.on('will-frame-navigate', deny);
  contents.on('will-redirect', deny);
  contents.on('will-attach-webview', deny);
  contents.setWindowOpenHandler(() => ({ action: 'deny' }));
}
