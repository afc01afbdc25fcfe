/**
 * OneSignal (vendors.md 5, SDK v16). Its worker is served from our own address, in a scope of its own, so that it never stands in the
 * way of another. Whether and when readers are asked for notifications is set up in OneSignal.
 */
import type { VisitorType } from '../audience/visitor-type.ts';
import type { Adapter, AdapterContext } from './adapter.ts';
import { loadScriptOnce } from './load-script.ts';

/** The vendor's object, as far as it is used. */
interface OneSignal {
  init(options: Readonly<Record<string, unknown>>): Promise<void>;
  setConsentRequired(required: boolean): Promise<void>;
  setConsentGiven(given: boolean): Promise<void>;
  readonly User: {
    addTags(tags: Readonly<Record<string, string>>): void;
    readonly PushSubscription: { optOut(): Promise<void> };
  };
}

declare global {
  interface Window {
    OneSignalDeferred?: { push(action: (sdk: OneSignal) => void | Promise<void>): unknown };
  }
}

/** Folder of the worker, below the site's root; what is in src/pages there. */
const folder = 'push/onesignal/';
const paying: readonly VisitorType[] = ['subscriber', 'reader', 'member', 'founder'];

export function makeWebPush({ settings }: AdapterContext<'webPush'>): Adapter {
  let ready: Promise<void> | null = null;
  let sent: string | null = null;
  const wait = (action: (sdk: OneSignal) => void | Promise<void>) => {
    window.OneSignalDeferred ??= [];
    window.OneSignalDeferred.push(action);
  };
  const init = () =>
    new Promise<void>((resolve, reject) => {
      wait(async (sdk) => {
        try {
          await sdk.setConsentRequired(true);
          await sdk.setConsentGiven(true);
          await sdk.init({
            appId: settings.appId,
            // Without a slash in front: the SDK puts it there.
            serviceWorkerPath: `${folder}OneSignalSDKWorker.js`,
            serviceWorkerParam: { scope: `/${folder}` },
          });
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
  return {
    async allow() {
      if (ready) return wait((sdk) => sdk.setConsentGiven(true));
      ready = init();
      const loaded = await loadScriptOnce(`${settings.sdkUrl}/OneSignalSDK.page.js`);
      if (loaded.ok) await ready;
      // Nobody answers; what waits in the list waits for ever, and does no harm.
      else ready.catch(() => {});
    },
    withdraw() {
      sent = null;
      if (ready)
        wait(async (sdk) => {
          await sdk.User.PushSubscription.optOut();
          await sdk.setConsentGiven(false);
        });
    },
    /** The paying-subscriber flag (spec section 6). Tags that are set before the set-up is done would be lost. */
    visitor(type) {
      const flag = String(paying.includes(type));
      if (!ready || flag === sent) return;
      sent = flag;
      void ready.then(
        () => wait((sdk) => sdk.User.addTags({ paying_subscriber: flag })),
        () => {},
      );
    },
  };
}
