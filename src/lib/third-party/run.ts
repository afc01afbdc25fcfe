/**
 * Starts third parties when their reader has allowed them and the browser has nothing better to do, each at most once and each
 * for itself: one that fails, or never comes, changes nothing for the others and nothing for the page.
 */

import type { Consent } from '../consent/model.ts';
import type { Adapter, VisitorType } from './model.ts';
import type { ThirdPartyName } from './settings.ts';

export interface Startable {
  readonly name: ThirdPartyName;
  /** Whether a consent allows it. */
  readonly allowed: (consent: Consent) => boolean;
  /** Whether a consent lets it keep anything in the browser: limited ads are shown without. */
  readonly remembers: (consent: Consent) => boolean;
  /** Fetches its adapter, which is a module of its own. */
  readonly load: () => Promise<Adapter>;
  /** Takes away what it has left in the browser. */
  readonly forget: () => void;
}

export interface Running {
  consent(consent: Consent): void;
  visitor(type: VisitorType): void;
  route(): void;
}

/**
 * @param idle calls back when the browser has time
 * @param report told of what went wrong, for the console
 */
export function runThirdParties(
  parties: readonly Startable[],
  idle: (action: () => void) => void,
  report: (name: ThirdPartyName, error: unknown) => void,
): Running {
  let type: VisitorType | null = null;
  let consent: Consent | null = null;
  const states = parties.map((party) => ({ party, adapter: null as Adapter | null, asked: false, on: false }));
  type State = (typeof states)[number];

  const safely = (state: State, action: (adapter: Adapter) => void | Promise<void>) => {
    if (!state.adapter) return;
    try {
      Promise.resolve(action(state.adapter)).catch((error: unknown) => report(state.party.name, error));
    } catch (error) {
      report(state.party.name, error);
    }
  };
  const wanted = (state: State) => consent !== null && state.party.allowed(consent);

  const turn = (state: State) => {
    const now = consent;
    if (now === null) return;
    if (wanted(state)) {
      state.on = true;
      safely(state, (adapter) => adapter.allow(now));
      const known = type;
      if (known) safely(state, (adapter) => adapter.visitor?.(known));
    } else if (state.on) {
      state.on = false;
      safely(state, (adapter) => adapter.withdraw());
    }
  };

  const fetchAdapter = (state: State) => {
    if (state.asked) return;
    state.asked = true;
    idle(() => {
      // It may have been taken back while the browser was busy.
      if (!wanted(state)) {
        state.asked = false;
        return;
      }
      state.party.load().then(
        (adapter) => {
          state.adapter = adapter;
          turn(state);
        },
        (error: unknown) => {
          state.asked = false;
          report(state.party.name, error);
        },
      );
    });
  };

  return {
    consent(next) {
      consent = next;
      for (const state of states) {
        if (state.adapter) turn(state);
        else if (wanted(state)) fetchAdapter(state);
        // Left behind by this page, or by one before the choice was changed.
        if (!state.party.remembers(next)) state.party.forget();
      }
    },
    visitor(next) {
      type = next;
      for (const state of states) if (state.on) safely(state, (adapter) => adapter.visitor?.(next));
    },
    route() {
      for (const state of states) if (state.on) safely(state, (adapter) => adapter.route?.());
    },
  };
}
