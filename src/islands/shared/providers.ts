/** Providers of social sign-in by the name that readers know. */
import type { Provider } from '../../lib/accounts/service.ts';

export type { Provider };

export const providerNames: Readonly<Record<Provider, string>> = { google: 'Google', facebook: 'Facebook' };
