import { Component, lazy, Suspense, useEffect, type ComponentType, type ReactNode } from 'react';
import { Button } from './parts/button.tsx';
import { keepFocus } from './parts/keep-focus.ts';
import { Notices } from './parts/notices.tsx';
import { useShell } from './stores/shell-store.ts';
import { closeSheets, useView } from './stores/view-store.ts';
import { useShortcuts } from './window/use-shortcuts.ts';
import { MainWindow } from './window/window.tsx';
import './app.css';

type View = ComponentType<{ readonly screen: string | null }>;

// The main window's view comes with the page; panel and onboarding load theirs. Before the first drawing, since React shows what
// was suspended 300 ms later at the soonest.
const VIEWS = {
  window: (): View => MainWindow,
  panel: async (): Promise<View> => (await import('./panel/panel.tsx')).Panel,
  onboarding: async (): Promise<View> => (await import('./onboarding/onboarding.tsx')).Onboarding,
};
const AddSheet = lazy(async () => ({ default: (await import('./senders/add-sheet.tsx')).AddSheet }));
const ConnectSheet = lazy(async () => ({ default: (await import('./clients/connect-sheet.tsx')).ConnectSheet }));

export type ViewName = keyof typeof VIEWS;

/** @param view `window`, `panel` or `onboarding`; anything else is the window */
export const viewNameOf = (view: string | null): ViewName => (view === 'panel' || view === 'onboarding' ? view : 'window');
export const loadView = async (name: ViewName): Promise<View> => VIEWS[name]();

interface AppProps {
  readonly name: ViewName;
  readonly view: View;
  /** A step of the onboarding. */
  readonly screen: string | null;
}

export function App({ name, view: View, screen }: AppProps) {
  useShortcuts(name);
  useEffect(keepFocus, []);
  useEffect(() => {
    document.documentElement.dataset.view = name;
    // The window's title names its section.
    if (name !== 'window') document.title = name === 'onboarding' ? 'Set up Belfry' : 'Belfry';
  }, [name]);
  // The window has a frame to draw meanwhile.
  const known = useShell(({ state }) => state !== null);
  return (
    <Guard>
      <div className="app">
        <div className="app-view">
          {(known || name === 'window') && <View screen={screen} />}
        </div>
        <Notices />
      </div>
      <Suspense fallback={null}><Sheets /></Suspense>
    </Guard>
  );
}

/** Sheets that several places open. */
function Sheets() {
  const addSender = useView((state) => state.addSender);
  const connect = useView((state) => state.connect);
  if (addSender) return <AddSheet initialText={addSender.text} onClose={closeSheets} />;
  return connect && <ConnectSheet id={connect.id} onClose={closeSheets} />;
}

/** A fault while drawing leaves a sentence, not an empty window. Watching is the engine's work and goes on. */
class Guard extends Component<{ readonly children: ReactNode }, { readonly broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  override render() {
    if (!this.state.broken) return this.props.children;
    return (
      <main className="app-broken">
        <h1>This window couldn't be drawn.</h1>
        <p>Belfry goes on watching. Draw the window again to go on here.</p>
        <Button look="main" onClick={() => window.location.reload()}>Draw Again</Button>
      </main>
    );
  }
}
