/**
 * What this browser remembers between visits (spec section 3, "Local storage keys"), shared by its tabs. If storage is full, blocked or
 * broken, the values last only as long as the page. `trackedArticles` is handled by `scripts/article/reading.ts` alone, which loads no
 * store.
 */
import { persistentAtom, setPersistentEngine, windowPersistentEvents } from '@nanostores/persistent';

setPersistentEngine(forgivingStorage(), typeof window === 'undefined' ? noEvents() : windowPersistentEvents);

const flag = {
  encode: (value: boolean) => (value ? 'true' : undefined),
  decode: (text: string) => text === 'true',
};

/** Whether the welcome popup was shown; it is shown once. */
export const $seenWelcomeModal = persistentAtom<boolean>('seen-welcome-modal', false, flag);

/** Whether the sticky subscribe footer is folded. It begins folded: unfolded it would cover the first screen. */
export const $condensedSubscribe = persistentAtom<boolean>('show-condensed-zephr-sticky-subscribe', true, {
  encode: String,
  decode: (text) => text !== 'false',
});

/** Whether an address was given in this browser, to sign up or to sign in: then no popup or footer asks for one. */
export const $gaveAddress = persistentAtom<boolean>('gave-address', false, flag);

/** When the upsell for the printed paper was last shown, epoch milliseconds; 0 is never. */
export const $printPromoLastSeen = persistentAtom<number>('print-edition-promo-last-seen', 0, {
  encode: String,
  decode: (text) => {
    const time = Number(text);
    return Number.isFinite(time) && time > 0 ? time : 0;
  },
});

/**
 * Local storage with a memory behind it. Reading it may throw (blocked cookies), be `null` (some web views) and fail on
 * writing (full, private windows).
 */
function forgivingStorage(): Record<string, string> {
  const memory = new Map<string, string>();
  const attempt = <T>(action: (storage: Storage) => T): T | null => {
    try {
      return action(localStorage);
    } catch {
      return null;
    }
  };
  const read = (key: string) => attempt((storage) => storage.getItem(key)) ?? memory.get(key);
  return new Proxy<Record<string, string>>(
    {},
    {
      has: (_target, key) => typeof key === 'string' && read(key) !== undefined,
      get: (_target, key) => (typeof key === 'string' ? read(key) : undefined),
      set(_target, key, value) {
        if (typeof key !== 'string') return false;
        // After a successful write the value is read from storage, where other tabs may change it.
        memory.delete(key);
        const taken = attempt((storage) => {
          storage.setItem(key, String(value));
          return true;
        });
        if (!taken) memory.set(key, String(value));
        return true;
      },
      deleteProperty(_target, key) {
        if (typeof key !== 'string') return false;
        memory.delete(key);
        attempt((storage) => storage.removeItem(key));
        return true;
      },
    },
  );
}

function noEvents(): Parameters<typeof setPersistentEngine>[1] {
  return { addEventListener() {}, removeEventListener() {} };
}
