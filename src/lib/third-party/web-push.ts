/**
 * OneSignal (docs/services/onesignal.md, SDK v16). Its worker is served from our own address, with its own scope, so that it doesn't
 * interfere with another worker. Whether and when readers are asked for notifications is configured in OneSignal. The vendor's declarations
 * type the calls.
 */
import type { IInitObject, IOneSignalOneSignal } from 'react-onesignal';
import { payingKinds } from '../accounts/products.ts';
import { readStored, writeStored } from '../browser-storage.ts';
import { loadScriptOnce } from './load-script.ts';
import type { Adapter, AdapterContext, VisitorType } from './model.ts';

/**
 * A vendor's options without the index signature that some declarations have (`[key: string]: unknown`), for `satisfies`: with the
 * signature, misspelled names would be accepted.
 */
type Declared<Options> = {
  [Name in keyof Options as string extends Name ? never : Name]: Options[Name];
};

type Action = (sdk: IOneSignalOneSignal) => void | Promise<void>;

/** Folder of the worker, below the site's root; src/pages has the same folder. */
const folder = 'push/onesignal/';
const paying: readonly VisitorType[] = payingKinds;
/** Set while notifications are paused because the reader withdrew consent, which differs from turning them off at OneSignal. */
const pausedKey = 'notifications-paused';

export function makeWebPush({ settings }: AdapterContext<'webPush'>): Adapter {
  let ready: Promise<void> | null = null;
  let sent: string | null = null;
  /** The reader's present choice: it may change while a call of the vendor's is under way. */
  let isAllowed = false;
  const whenLoaded = (action: Action) => {
    window.OneSignalDeferred ??= [];
    window.OneSignalDeferred.push(action);
  };
  const init = () =>
    new Promise<void>((resolve, reject) => {
      whenLoaded(async (sdk) => {
        try {
          await sdk.setConsentRequired(true);
          await sdk.setConsentGiven(isAllowed);
          await sdk.init({
            appId: settings.appId,
            // Without a leading slash: the SDK adds it.
            serviceWorkerPath: `${folder}OneSignalSDKWorker.js`,
            serviceWorkerParam: { scope: `/${folder}` },
          } satisfies Declared<IInitObject>);
          if (isAllowed) await optInAgain(sdk);
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
  return {
    async allow() {
      isAllowed = true;
      if (ready) {
        return whenLoaded(async (sdk) => {
          await sdk.setConsentGiven(isAllowed);
          if (isAllowed) await optInAgain(sdk);
        });
      }
      ready = init();
      const loaded = await loadScriptOnce(`${settings.sdkUrl}/OneSignalSDK.page.js`);
      if (loaded.ok) await ready;
      // The script didn't load; the queued commands stay in the queue and have no effect.
      else ready.catch(() => {});
    },
    withdraw() {
      isAllowed = false;
      sent = null;
      if (ready)
        whenLoaded(async (sdk) => {
          // A reader without notifications has nothing to opt out of, and isn't opted in when consent returns.
          if (sdk.User.PushSubscription.optedIn) {
            paused(true);
            await sdk.User.PushSubscription.optOut();
          }
          await sdk.setConsentGiven(isAllowed);
        });
    },
    /** The paying-subscriber flag (spec section 6). Tags that are set before the initialization is done would be lost. */
    visitor(type) {
      const flag = String(paying.includes(type));
      if (!ready || flag === sent) return;
      sent = flag;
      void ready.then(
        () => whenLoaded((sdk) => sdk.User.addTags({ paying_subscriber: flag })),
        () => {},
      );
    },
  };
}

/**
 * Undoes the opt-out of {@link makeWebPush}'s `withdraw`, which consent alone doesn't do. Without the browser's permission, `optIn`
 * would open the permission prompt; only OneSignal's own prompt should do that.
 */
async function optInAgain(sdk: IOneSignalOneSignal): Promise<void> {
  if (!paused() || !sdk.Notifications.permission) return;
  await sdk.User.PushSubscription.optIn();
  paused(false);
}

/** Reads or writes the flag in this browser; without storage it is off. */
function paused(next?: boolean): boolean {
  if (next !== undefined) writeStored(pausedKey, next ? '1' : null);
  return readStored(pausedKey) !== null;
}
