/** The window of a social sign-in, as part of a screen: one at a time, and none is listened to once the screen has gone. */
import { useEffect, useRef } from 'react';
import { openSocial, type Provider } from '../shared/social.ts';
import type { Flow } from './flow.ts';

/** @returns opens a provider's window; call it within the click */
export function useSocialWindow(flow: Flow, returnTo: string): (provider: Provider) => void {
  const stop = useRef(() => {});
  useEffect(() => () => stop.current(), []);
  return (provider) => {
    stop.current();
    flow.socialOpened(provider);
    stop.current = openSocial(provider, returnTo, (end) => {
      // A Zephr tenant leaves it to the page to set the session (vendors.md 1.8); our own server has set it already.
      // biome-ignore lint/suspicious/noDocumentCookie: the message carries a whole Set-Cookie line
      if (end.kind === 'login' && end.cookie) document.cookie = end.cookie;
      void flow.socialEnded(end);
    });
  };
}
