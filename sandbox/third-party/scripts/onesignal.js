// Stands in for OneSignal's SDK v16: consent, set-up with its worker, tags.
(() => {
  const { origin } = new URL(document.currentScript.src);
  const told = (what, details) =>
    fetch(`${origin}/told/onesignal`, { method: 'POST', body: JSON.stringify({ what, details }), keepalive: true });
  const strict = makeStrict(shapes, told);
  let optedOut = false;
  const isGranted = () => window.Notification?.permission === 'granted';
  const subscription = {
    get optedIn() {
      return isGranted() && !optedOut;
    },
    async optIn() {
      optedOut = false;
      await told('optIn', null);
    },
    async optOut() {
      optedOut = true;
      await told('optOut', null);
    },
  };
  const notifications = {
    get permission() {
      return isGranted();
    },
  };
  const sdk = strict.wrap('OneSignal', {
    async setConsentRequired(required) {
      await told('setConsentRequired', required);
    },
    async setConsentGiven(given) {
      await told('setConsentGiven', given);
    },
    async init(options) {
      if (!/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(options.appId)) strict.fault('The app id is no UUID');
      await told('init', options);
      const { serviceWorkerPath, serviceWorkerParam } = options;
      try {
        await navigator.serviceWorker.register(`/${serviceWorkerPath}`, serviceWorkerParam);
        await told('worker', serviceWorkerParam.scope);
      } catch (error) {
        await told('no worker', String(error));
      }
    },
    Notifications: strict.wrap('Notifications', notifications),
    User: strict.wrap('User', {
      addTags: (tags) => void told('addTags', tags),
      PushSubscription: strict.wrap('PushSubscription', subscription),
    }),
  });
  const waiting = window.OneSignalDeferred ?? [];
  let turn = Promise.resolve();
  const push = (action) => {
    turn = turn.then(() => action(sdk)).catch((error) => console.warn(error));
  };
  window.OneSignalDeferred = { push };
  for (const action of waiting) push(action);
})();
