import { useEffect, useRef, useState } from 'react';
import type { Provider } from '../../lib/accounts/service.ts';
import { openSocial } from '../shared/social.tsx';
import { createFlow, type Flow, type Method, type SignInState } from './flow.ts';
/** The sign-in flow of one screen, tied to who is reading. */

import * as calls from '../../lib/accounts/client.ts';
import { readPending, removePending, type Surface, storePending } from '../../lib/accounts/storage.ts';
import { $session, refreshSession } from '../../stores/session.ts';

interface Options {
  method?: Method | undefined;
  redirect: string;
  initial?: Partial<SignInState> | undefined;
  /** Names a screen that goes on after a reload. */
  surface?: Surface | undefined;
  /** Called once the reader is signed in: by this screen, or by a link that was opened in another tab. */
  onSignedIn(): void;
}

/** Makes a flow that lasts as long as its screen. */
export function useFlow({ method, redirect, initial, surface, onSignedIn }: Options): Flow {
  const [flow] = useState(() =>
    createFlow({
      calls,
      codes: calls.codeKey() !== null,
      method,
      redirect,
      initial,
      onSignedIn: async () => {
        await refreshSession();
      },
    }),
  );

  const end = useRef(onSignedIn);
  end.current = onSignedIn;

  useEffect(() => {
    let over = false;
    const finish = () => {
      if (over) return;
      over = true;
      end.current();
    };
    // A sign-in of another tab counts as soon as nothing is under way here.
    const look = () => {
      const { step, busy } = flow.$state.get();
      if (step === 'done' || (!busy && $session.get().isAuthenticated)) finish();
    };
    const pending = surface && readPending(surface);
    if (pending) flow.resume(pending);
    const stopState = flow.$state.listen((state, before) => {
      if (surface && state.step !== before?.step) storePending(surface, state);
      look();
    });
    const stopSession = $session.subscribe(look);
    return () => {
      stopState();
      stopSession();
      flow.stop();
      // Only a screen that is closed comes to this; a page that is left does not.
      if (surface) removePending();
    };
  }, [flow, surface]);

  return flow;
}

/** The window of a social sign-in, as part of a screen: one at a time, and none is listened to once the screen has gone. */

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
