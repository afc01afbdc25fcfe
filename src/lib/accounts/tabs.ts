/** A tab in which somebody signs in or out tells the browser's other tabs. */
import { sessionName } from './visitor.ts';

export interface Tabs {
  tell(): void;
  close(): void;
}

/** @param onChange called when another tab has told, or another part of this page that holds tabs of its own */
export function tabs(onChange: () => void): Tabs {
  if (typeof BroadcastChannel === 'undefined') {
    // An answer that is kept or dropped is heard by the others as a change of storage.
    const heard = ({ key }: StorageEvent) => {
      if (key === sessionName) onChange();
    };
    addEventListener('storage', heard);
    return { tell() {}, close: () => removeEventListener('storage', heard) };
  }
  let channel: BroadcastChannel | null = null;
  const open = () => {
    channel ??= new BroadcastChannel(sessionName);
    channel.onmessage = () => onChange();
  };
  // A page with an open channel is not kept for the way back.
  const shut = () => {
    channel?.close();
    channel = null;
  };
  open();
  addEventListener('pagehide', shut);
  addEventListener('pageshow', open);
  return {
    tell: () => channel?.postMessage('changed'),
    close() {
      removeEventListener('pagehide', shut);
      removeEventListener('pageshow', open);
      shut();
    },
  };
}
