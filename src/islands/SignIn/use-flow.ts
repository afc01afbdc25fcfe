/** The sign-in flow of one form, connected to the session and the browser's storage. */
import { useEffect, useRef, useState } from 'react';
import * as calls from '../../lib/accounts/client.ts';
import type { Provider } from '../../lib/accounts/service.ts';
import { readPending, removePending, type Surface, storePending } from '../../lib/accounts/storage.ts';
import { $session, refreshSession } from '../../stores/session.ts';
import { openSocial } from '../shared/social.tsx';
import { createFlow, type Flow, type SignInState } from './flow.ts';

interface Options {
  redirect: string;
  initial?: Partial<SignInState> | undefined;
  /** Names a form that resumes after a reload. */
  surface?: Surface | undefined;
  /** Called once the user is signed in: by this form, or by a link that was opened in another tab. */
  onSignedIn(): void;
}

/** A flow that lasts as long as its component. */
export function useFlow({ redirect, initial, surface, onSignedIn }: Options): Flow {
  const [flow] = useState(() =>
    createFlow({
      calls,
      redirect,
      initial,
      onSignedIn: refreshSession,
    }),
  );

  const signedIn = useRef(onSignedIn);
  signedIn.current = onSignedIn;

  useEffect(() => {
    let over = false;
    const finish = () => {
      if (over) return;
      over = true;
      signedIn.current();
    };
    // A sign-in in another tab counts when no action runs here.
    const check = () => {
      const { step, busy } = flow.$state.get();
      if (step === 'done' || (!busy && $session.get().isAuthenticated)) finish();
    };
    const pending = surface && readPending(surface);
    if (pending) flow.resume(pending);
    const stopState = flow.$state.listen((state, before) => {
      if (surface && state.step !== before?.step) storePending(surface, state);
      check();
    });
    const stopSession = $session.subscribe(check);
    return () => {
      stopState();
      stopSession();
      flow.stop();
      // This runs when the form is closed, and not when the page is left.
      if (surface) removePending();
    };
  }, [flow, surface]);

  return flow;
}

/** One provider's window at a time; unmounting stops listening to it. @returns opens a window; call it within the click */
export function useSocialWindow(flow: Flow, returnTo: string): (provider: Provider) => void {
  const stop = useRef(() => {});
  useEffect(() => () => stop.current(), []);
  return (provider) => {
    stop.current();
    flow.socialOpened(provider);
    stop.current = openSocial(provider, returnTo, (end) => {
      // With a Zephr tenant, the page sets the session cookie (docs/services/zephr.md); our own server has set it already.
      // biome-ignore lint/suspicious/noDocumentCookie: the message contains a whole Set-Cookie line
      if (end.kind === 'login' && end.cookie) document.cookie = end.cookie;
      void flow.socialEnded(end);
    });
  };
}
