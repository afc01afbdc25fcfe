/** What this installation offers to somebody who is not signed in: the same for every reader, so that pages can be stored. */
import { providers } from '../../lib/accounts/model.ts';
import type { Provider } from '../../lib/accounts/service.ts';

export interface SignInOffer {
  /** Whether anybody can sign in here at all. */
  readonly on: boolean;
  readonly providers: readonly Provider[];
}

export const signInOffer = ({ services }: Pick<App.Locals, 'services'>): SignInOffer => ({
  on: services.features.accounts.on,
  // A Zephr tenant does not say which it has.
  providers: services.accounts?.providers ?? (services.sessions ? providers : []),
});
