/** The sign-in flow of one screen, tied to who is reading. */
import { useEffect, useRef, useState } from 'react';
import * as calls from '../../lib/accounts/client.ts';
import { $session, refreshSession } from '../../stores/session.ts';
import { createFlow, type Flow, type Method, type SignInState } from './flow.ts';

interface Options {
  method?: Method | undefined;
  redirect: string;
  initial?: Partial<SignInState> | undefined;
  /** Called once the reader is signed in: by this screen, or by a link that was opened in another tab. */
  onSignedIn(): void;
}

/** Makes a flow that lasts as long as its screen. */
export function useFlow({ method, redirect, initial, onSignedIn }: Options): Flow {
  const [flow] = useState(() =>
    createFlow({
      calls,
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
    const stopState = flow.$state.listen(look);
    const stopSession = $session.subscribe(look);
    return () => {
      stopState();
      stopSession();
      flow.stop();
    };
  }, [flow]);

  return flow;
}
